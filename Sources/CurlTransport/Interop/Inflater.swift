import CZlib
import FoundationEssentials
import NetworkCore

/// A decoder for gzip and deflate, based on zlib, which verifies the checksums at the end.
@safe final class Inflater: ContentDecoder {
    /// The container of the compressed bytes.
    enum Container: String {
        /// RFC 1952. Several members in a row form one body.
        case gzip
        /// RFC 1950, and RFC 1951 without a container, which some servers send under that name.
        case deflate
    }

    private let container: Container
    private let stream: UnsafeMutablePointer<z_stream>
    private var isStarted = false
    private var isPadded = false
    private(set) var isAtEnd = false

    init(_ container: Container) {
        self.container = container
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
    }

    deinit {
        if isStarted { unsafe inflateEnd(stream) }
        unsafe stream.deallocate()
    }

    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int) {
        guard let first = input.first ?? (isStarted ? 0 : nil) else { return (Data(), 0) }
        if isAtEnd {
            guard !input.isEmpty else { return (Data(), 0) }
            // Some servers pad with zeros; nothing may follow these.
            if first == 0 {
                isPadded = true
                return (Data(), input.prefix { $0 == 0 }.count)
            }
            guard container == .gzip, first == 0x1F, !isPadded else { return (Data(), 0) }
            unsafe inflateReset(stream)
            isAtEnd = false
        }
        if !isStarted { try start(first) }
        return try inflatePiece(of: input, limit: limit)
    }

    /// Initializes zlib for the container.
    private func start(_ first: UInt8) throws {
        let window: Int32 =
            switch container {
            case .gzip: 15 + 16
            case .deflate: first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15
            }
        guard unsafe czlib_inflate_init(stream, window) == Z_OK else {
            throw NetworkError(.unclassified, "zlib could not be started (inflateInit2)", phase: .receiving)
        }
        isStarted = true
    }

    private func inflatePiece(of input: Data, limit: Int) throws -> (output: Data, consumed: Int) {
        var (status, consumed) = (Z_OK, 0)
        let output = try unsafe WrittenPiece.make(limit: limit) { target in
            unsafe input.withUnsafeBytes { bytes in
                // zlib only reads from this pointer.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
                let offered = UInt32(clamping: bytes.count)
                unsafe stream.pointee.avail_in = offered
                unsafe stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.pointee.avail_out = UInt32(clamping: target.count)
                status = unsafe inflate(stream, Z_NO_FLUSH)
                consumed = unsafe Int(offered - stream.pointee.avail_in)
                return unsafe target.count - Int(stream.pointee.avail_out)
            }
        }
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
            throw NetworkError.damagedEncoding(container.rawValue, "is damaged")
        }
        isAtEnd = status == Z_STREAM_END
        return (output, consumed)
    }
}

/// A decoder that removes one content coding from a body, chunk by chunk.
protocol ContentDecoder: AnyObject {
    /// Decodes the start of `input`. It must return soon, because nothing interrupts it.
    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int)

    /// Whether the end of the coding has been read. All output before it is then complete.
    var isAtEnd: Bool { get }
}

extension NetworkError {
    /// Returns the error for a body with a damaged coding.
    static func damagedEncoding(_ name: String, _ problem: String) -> NetworkError {
        NetworkError(.invalidContentEncoding, "the body's \(name) encoding \(problem)", phase: .receiving)
    }
}
