import CZlib
import FoundationEssentials

/// A compressor that writes a gzip container (RFC 1952), based on zlib.
@safe final class Deflater {
    private static let pieceBytes = 65_536
    private let stream: UnsafeMutablePointer<z_stream>

    init(level: Int) throws {
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

    func pack(_ bytes: Data, isLast: Bool, flushes: Bool = false, check: () throws -> Void = {}) throws -> Data {
        var packed = Data()
        var start = bytes.startIndex
        repeat {
            if start > bytes.startIndex { try check() }
            let end = bytes.index(start, offsetBy: Self.pieceBytes, limitedBy: bytes.endIndex) ?? bytes.endIndex
            let isEnd = end == bytes.endIndex
            let flush = isLast && isEnd ? Z_FINISH : flushes && isEnd ? Z_SYNC_FLUSH : Z_NO_FLUSH
            packPiece(bytes[start..<end], flush, into: &packed)
            start = end
        } while start < bytes.endIndex
        return packed
    }

    private func packPiece(_ bytes: Data, _ flush: Int32, into packed: inout Data) {
        unsafe bytes.withUnsafeBytes { bytes in
            // zlib only reads from this pointer.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            unsafe stream.pointee.avail_in = UInt32(bytes.count)
            var isFull = true
            while isFull {
                packed += unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { target, count in
                    unsafe stream.pointee.next_out = target.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(target.count)
                    // The only possible failure is a stream that was not initialized.
                    _ = unsafe deflate(stream, flush)
                    isFull = unsafe stream.pointee.avail_out == 0
                    count = unsafe target.count - Int(stream.pointee.avail_out)
                }
            }
            unsafe stream.pointee.next_in = nil
        }
    }
}
