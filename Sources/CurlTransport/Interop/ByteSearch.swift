import CLibrary

/// memchr(3) and memcmp(3) for Swift's arrays; a loop in Swift costs ten times as much.
enum ByteSearch {
    /// Returns the index of the next newline at or after `start`; the array's count if there is none.
    static func newline(in bytes: [UInt8], from start: Int) -> Int {
        unsafe bytes.withUnsafeBytes { buffer in
            guard start < buffer.count, let base = buffer.baseAddress,
                let found = unsafe memchr(base + start, 0x0A, buffer.count - start)
            else { return bytes.count }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Returns whether there is a CR that no LF follows, which some recipients take for a line's end (RFC 9112 §2.2).
    static func hasBareCR(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return false }
            var at = 0
            while let found = unsafe memchr(base + at, 0x0D, buffer.count - at) {
                at = unsafe UnsafeRawPointer(found) - base + 1
                if unsafe at == buffer.count || buffer[at] != 0x0A { return true }
            }
            return false
        }
    }

    /// Returns whether bytes that lie in one piece are those of an array.
    static func areEqual(_ bytes: some Collection<UInt8>, _ others: [UInt8]) -> Bool {
        let areEqual = bytes.withContiguousStorageIfAvailable { bytes in
            unsafe others.withUnsafeBytes { others in
                guard bytes.count == others.count, let start = bytes.baseAddress, let other = others.baseAddress else {
                    return bytes.count == others.count
                }
                return unsafe memcmp(start, other, bytes.count) == 0
            }
        }
        return areEqual ?? false
    }

    /// Returns whether the array begins with these bytes.
    static func start(of bytes: [UInt8], is start: [UInt8]) -> Bool {
        guard bytes.count >= start.count else { return false }
        return unsafe bytes.withUnsafeBytes { bytes in
            unsafe start.withUnsafeBytes { start in
                guard let bytes = bytes.baseAddress, let wanted = start.baseAddress else { return unsafe start.isEmpty }
                return unsafe memcmp(bytes, wanted, start.count) == 0
            }
        }
    }
}
