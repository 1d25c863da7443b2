import CZlib
import FoundationEssentials

/// Packs bytes into a gzip container (RFC 1952), by zlib.
@safe final class Deflater {
    private static let pieceBytes = 65_536
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter level: From 1, the fastest, to 9, the smallest.
    init(level: Int) throws {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe czlib_deflate_init(stream, Int32(level), 15 + 16) == Z_OK else {
            // `deinit` runs: everything is initialised.
            throw NetworkError(.unclassified, "zlib could not be started (deflateInit2)", phase: .preparing)
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Packs more bytes.
    /// - Parameters:
    ///   - isLast: Whether the container ends with them.
    ///   - check: Throws when there is no more time; asked every few milliseconds.
    /// - Returns: What came out; often nothing before the end.
    func pack(_ bytes: Data, isLast: Bool, check: () throws -> Void = {}) throws -> Data {
        var packed = Data()
        var start = bytes.startIndex
        repeat {
            if start > bytes.startIndex { try check() }
            let end = bytes.index(start, offsetBy: Self.pieceBytes, limitedBy: bytes.endIndex) ?? bytes.endIndex
            try packPiece(bytes[start..<end], isLast: isLast && end == bytes.endIndex, into: &packed)
            start = end
        } while start < bytes.endIndex
        return packed
    }

    private func packPiece(_ bytes: Data, isLast: Bool, into packed: inout Data) throws {
        try unsafe bytes.withUnsafeBytes { bytes in
            // zlib only reads there.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.pointee.avail_in = UInt32(bytes.count)
            var isFull = true
            while isFull {
                unsafe packed.append(
                    try WrittenPiece.make(limit: Self.pieceBytes) { target in
                        unsafe stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
                        unsafe stream.pointee.avail_out = UInt32(target.count)
                        // Its one failure is a stream that was not started.
                        _ = unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                        isFull = unsafe stream.pointee.avail_out == 0
                        return unsafe target.count - Int(stream.pointee.avail_out)
                    })
            }
            unsafe stream.pointee.next_in = nil
        }
    }
}
