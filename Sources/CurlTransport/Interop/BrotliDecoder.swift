import CLibrary
import FoundationEssentials
import NetworkCore

/// A Brotli decoder, from the library that comes with libcurl (https://github.com/google/brotli, brotli/decode.h). Its
/// functions are looked up at run time, because not every libcurl has it.
@safe final class BrotliDecoder: ContentDecoder {
    @safe private struct Library: Sendable {
        typealias Create = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> OpaquePointer?
        typealias Destroy = @convention(c) (OpaquePointer?) -> Void
        typealias Decompress =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
                UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
                UnsafeMutablePointer<Int>?
            ) -> Int32

        let create: Create
        let destroy: Destroy
        let decompress: Decompress

        init?() {
            guard let create = unsafe dlsym(nil, "BrotliDecoderCreateInstance"),
                let destroy = unsafe dlsym(nil, "BrotliDecoderDestroyInstance"),
                let decompress = unsafe dlsym(nil, "BrotliDecoderDecompressStream")
            else { return nil }
            unsafe self.create = unsafeBitCast(create, to: Create.self)
            unsafe self.destroy = unsafeBitCast(destroy, to: Destroy.self)
            unsafe self.decompress = unsafeBitCast(decompress, to: Decompress.self)
        }
    }

    private static let library = Library()

    /// Whether the library is loaded.
    static var isAvailable: Bool { library != nil }

    private let decoder: OpaquePointer?
    private(set) var isAtEnd = false

    init() { unsafe decoder = unsafe Self.library?.create(nil, nil, nil) }

    deinit { unsafe Self.library?.destroy(decoder) }

    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int) {
        guard let library = Self.library, let decoder = unsafe decoder else {
            throw NetworkError(.unclassified, "the Brotli library could not be started", phase: .receiving)
        }
        guard !isAtEnd else { return (Data(), 0) }
        var (result, consumed) = (Int32(0), 0)
        let output = try unsafe WrittenPiece.make(limit: limit) { target in
            unsafe input.withUnsafeBytes { bytes in
                var next: UnsafePointer<UInt8>? = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
                var left = bytes.count
                var output: UnsafeMutablePointer<UInt8>? = unsafe target.bindMemory(to: UInt8.self).baseAddress
                var room = target.count
                result = unsafe library.decompress(decoder, &left, &next, &room, &output, nil)
                consumed = bytes.count - left
                return target.count - room
            }
        }
        // 0 is BROTLI_DECODER_RESULT_ERROR, and 1 is BROTLI_DECODER_RESULT_SUCCESS.
        guard result != 0 else { throw NetworkError.damagedEncoding("br", "is damaged") }
        isAtEnd = result == 1
        return (output, consumed)
    }
}
