import CZlib
package import FoundationEssentials

/// A compressor that writes a gzip container (RFC 1952), based on zlib.
@safe package final class Deflater {
    private static let pieceBytes = 65_536
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter level: From 1 (fastest) to 9 (smallest); 0 stores the bytes as they are.
    package init(level: Int) throws {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe czlib_deflate_init(stream, Int32(clamping: level), 15 + 16) == Z_OK else {
            // `deinit` runs, because every property is initialized.
            throw NetworkError.refused(.unclassified, "zlib could not be started (deflateInit2)")
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses more bytes.
    /// - Parameters:
    ///   - isLast: Whether the container ends with these bytes.
    ///   - flushes: Whether a reader of what is returned can decompress all bytes so far.
    ///   - check: Throws when there is no time left. Called every few milliseconds.
    /// - Returns: The compressed bytes; often none before the end.
    package func pack(_ bytes: Data, isLast: Bool, flushes: Bool = false, check: () throws -> Void = {})
        throws -> Data
    {
        var packed = Data()
        var start = bytes.startIndex
        repeat {
            if start > bytes.startIndex { try check() }
            let end = bytes.index(start, offsetBy: Self.pieceBytes, limitedBy: bytes.endIndex) ?? bytes.endIndex
            let isEnd = end == bytes.endIndex
            let flush = isLast && isEnd ? Z_FINISH : flushes && isEnd ? Z_SYNC_FLUSH : Z_NO_FLUSH
            try packPiece(bytes[start..<end], flush, into: &packed)
            start = end
        } while start < bytes.endIndex
        return packed
    }

    private func packPiece(_ bytes: Data, _ flush: Int32, into packed: inout Data) throws {
        try unsafe bytes.withUnsafeBytes { bytes in
            // zlib only reads from this pointer.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.pointee.avail_in = UInt32(bytes.count)
            var isFull = true
            while isFull {
                unsafe packed.append(
                    try WrittenPiece.make(limit: Self.pieceBytes) { target in
                        unsafe stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
                        unsafe stream.pointee.avail_out = UInt32(target.count)
                        // The only possible failure is a stream that was not initialized.
                        _ = unsafe deflate(stream, flush)
                        isFull = unsafe stream.pointee.avail_out == 0
                        return unsafe target.count - Int(stream.pointee.avail_out)
                    })
            }
            unsafe stream.pointee.next_in = nil
        }
    }
}

/// A piece of memory that a C library fills.
package enum WrittenPiece {
    /// Returns the bytes that `write` wrote, in memory from the pool.
    /// - Parameters:
    ///   - limit: The maximum number of bytes, in the range of ``BufferMemory/capacity(for:)``: above 16 KiB, up to
    ///     1 MiB.
    ///   - write: Writes at most as many bytes as the buffer has room for, and returns their number.
    package static func make(limit: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) throws -> Data {
        guard let capacity = BufferMemory.capacity(for: limit) else {
            preconditionFailure("a piece of \(limit) bytes")
        }
        guard let memory = unsafe BufferMemory.shared.take(capacity) else {
            throw NetworkError.noMemoryForBody
        }
        let count = unsafe write(UnsafeMutableRawBufferPointer(start: memory, count: limit))
        return unsafe BufferMemory.shared.data(memory, count: count, capacity: capacity)
    }
}
