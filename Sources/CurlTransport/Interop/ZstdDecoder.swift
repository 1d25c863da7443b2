import CLibrary
import FoundationEssentials
import NetworkCore

/// A Zstandard decoder, from the library that comes with libcurl (https://facebook.github.io/zstd, zstd.h). Its
/// functions are looked up at run time, because not every libcurl has it. Several frames in a row are one body.
@safe final class ZstdDecoder: ContentDecoder {
    /// ZSTD_inBuffer and ZSTD_outBuffer.
    @safe private struct Buffer {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    @safe private struct Library: Sendable {
        typealias Create = @convention(c) () -> OpaquePointer?
        typealias Free = @convention(c) (OpaquePointer?) -> Int
        typealias SetParameter = @convention(c) (OpaquePointer?, Int32, Int32) -> Int
        typealias Decompress =
            @convention(c) (
                OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutableRawPointer
            ) -> Int
        typealias IsError = @convention(c) (Int) -> UInt32

        let create: Create
        let free: Free
        let setParameter: SetParameter
        let decompress: Decompress
        let isError: IsError

        init?() {
            guard let create = unsafe dlsym(nil, "ZSTD_createDCtx"), let free = unsafe dlsym(nil, "ZSTD_freeDCtx"),
                let setParameter = unsafe dlsym(nil, "ZSTD_DCtx_setParameter"),
                let decompress = unsafe dlsym(nil, "ZSTD_decompressStream"),
                let isError = unsafe dlsym(nil, "ZSTD_isError")
            else { return nil }
            unsafe self.create = unsafeBitCast(create, to: Create.self)
            unsafe self.free = unsafeBitCast(free, to: Free.self)
            unsafe self.setParameter = unsafeBitCast(setParameter, to: SetParameter.self)
            unsafe self.decompress = unsafeBitCast(decompress, to: Decompress.self)
            self.isError = unsafe unsafeBitCast(isError, to: IsError.self)
        }
    }

    private static let library = Library()
    /// ZSTD_d_windowLogMax, and the base-2 logarithm of the 8 MiB window that RFC 9659 allows a server.
    private static let (windowParameter, largestWindow) = (Int32(100), Int32(23))

    /// Whether the library is loaded.
    static var isAvailable: Bool { library != nil }

    private let decoder: OpaquePointer?
    private(set) var isAtEnd = false

    init() {
        unsafe decoder = Self.library?.create()
        if let decoder = unsafe decoder {
            _ = unsafe Self.library?.setParameter(decoder, Self.windowParameter, Self.largestWindow)
        }
    }

    deinit { _ = unsafe Self.library?.free(decoder) }

    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int) {
        guard let library = Self.library, let decoder = unsafe decoder else {
            throw NetworkError(.unclassified, "the Zstandard library could not be started", phase: .receiving)
        }
        // After its end, a further call would make it wait for another frame.
        if isAtEnd, input.isEmpty { return (Data(), 0) }
        var (result, consumed) = (0, 0)
        let output = try unsafe WrittenPiece.make(limit: limit) { target in
            unsafe input.withUnsafeBytes { bytes in
                // The decoder only reads from it.
                let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                var source = unsafe Buffer(start: start, size: bytes.count)
                var sink = unsafe Buffer(start: target.baseAddress, size: target.count)
                result = unsafe library.decompress(decoder, &sink, &source)
                consumed = source.position
                return sink.position
            }
        }
        guard library.isError(result) == 0 else { throw NetworkError.damagedEncoding("zstd", "is damaged") }
        // 0 is the end of a frame with all of its output delivered.
        isAtEnd = result == 0
        return (output, consumed)
    }
}
