import CLibrary

/// The C library's search, which is fast enough for bodies of megabytes.
enum ByteSearch {
    static func firstIndex(of part: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard let first = part.first else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var index = start
            while index + part.count <= bytes.count, let base = bytes.baseAddress {
                guard let found = memchr(base + index, Int32(first), bytes.count - part.count - index + 1) else {
                    return nil
                }
                if memcmp(found, part, part.count) == 0 { return UnsafeRawPointer(found) - base }
                index = UnsafeRawPointer(found) - base + 1
            }
            return nil
        }
    }
}
