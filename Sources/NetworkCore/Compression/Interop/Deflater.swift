import CZlib
import FoundationEssentials

/// Packs bytes into a gzip container (RFC 1952), by zlib.
final class Deflater {
    private static let pieceBytes = 65_536
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter level: From 1, the fastest, to 9, the smallest.
    init(level: Int) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard czlib_deflate_init(stream, Int32(level), 15 + 16) == Z_OK else {
            // `deinit` runs: everything is initialised.
            throw NetworkError(.unclassified, "zlib could not be started (deflateInit2)", phase: .preparing)
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
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
        try bytes.withUnsafeBytes { bytes in
            // zlib only reads there.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            var isFull = true
            while isFull {
                packed.append(
                    try WrittenPiece.make(limit: Self.pieceBytes) { target in
                        stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
                        stream.pointee.avail_out = UInt32(target.count)
                        // Its one failure is a stream that was not started.
                        _ = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                        isFull = stream.pointee.avail_out == 0
                        return target.count - Int(stream.pointee.avail_out)
                    })
            }
            stream.pointee.next_in = nil
        }
    }
}
