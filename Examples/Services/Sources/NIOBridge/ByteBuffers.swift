import Foundation
import NIOCore
import NetworkLayer

// The bridge between the library's `Data` and NIO's `ByteBuffer`. Both directions stream: each chunk is converted when
// the other side is ready for it.

extension RequestContent {
    /// A request body that is a sequence of buffers, read while it is sent.
    ///
    /// The bridge copies no bytes. The one copy is the transport's, from the buffer's memory to libcurl's. (Chunks of a
    /// few kilobytes are joined first, with a copy more. URLSession can't stream a body out: the client collects it.)
    static func stream<Buffers: AsyncSequence & Sendable>(
        _ buffers: Buffers, length: Int? = nil, type: String? = "application/octet-stream"
    ) -> RequestContent where Buffers.Element == ByteBuffer {
        .stream(buffers.map { Data(sharing: $0) }, length: length, contentType: type)
    }
}

extension TransportResponse.Body {
    /// The chunks of the body as buffers.
    ///
    /// The bridge copies each byte once, in `ByteBuffer.init(bytes:)`: NIO has no public way to make a buffer of memory
    /// that another library allocated.
    var byteBuffers: AsyncMapSequence<Self, ByteBuffer> {
        map { ByteBuffer(bytes: $0) }
    }
}

extension Data {
    /// The readable bytes of a buffer, in the buffer's own memory.
    ///
    /// The data retains that memory, so a later write to the buffer goes to a copy, as with any other buffer of shared
    /// memory. The other way round there is no such protection: only read the data. With the product
    /// NIOFoundationCompat, `Data(buffer: buffer, byteTransferStrategy: .noCopy)` is the same.
    init(sharing buffer: ByteBuffer) {
        self = buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return Data() }
            let retained = storage.retain()
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                deallocator: .custom { _, _ in retained.release() })
        }
    }
}
