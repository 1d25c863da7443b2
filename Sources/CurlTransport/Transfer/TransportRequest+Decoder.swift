import FoundationEssentials
import HTTPTypes
import NetworkCore

extension TransportRequest {
    /// The maximum number of codings of one body: each can make a body up to a thousand times larger, and servers use
    /// one.
    private static let maximumCodings = 2

    /// Returns a decoder for the codings of a response's body; `nil` if there are none or they are to stay.
    ///
    /// libcurl could decode (CURLOPT_ACCEPT_ENCODING), but it takes a body that is cut short within its coding for
    /// complete, and it decodes on the loop's thread, where a paused decompression bomb must be held in memory.
    func decoder(for head: HTTPResponse) -> BodyDecoder? {
        guard options.decompress, method != .head else { return nil }
        let codings = head.headerFields[values: .contentEncoding].flatMap { $0.split(separator: ",") }.map {
            $0.filter { $0 != " " && $0 != "\t" }.lowercased()
        }.filter { !$0.isEmpty && $0 != "identity" && $0 != "none" }
        guard !codings.isEmpty else { return nil }
        guard codings.count <= Self.maximumCodings else {
            let problem = "has \(codings.count) layers, and at most \(Self.maximumCodings) are decoded"
            return BodyDecoder(DecodingChain([("Content-Encoding", UnknownCoding(problem))]))
        }
        // The coding that was applied last comes off first.
        return BodyDecoder(DecodingChain(codings.reversed().map { ($0, Self.decoder($0)) }))
    }

    private static func decoder(_ coding: String) -> any ContentDecoder {
        switch coding {
        case "gzip", "x-gzip": Inflater(.gzip)
        case "deflate": Inflater(.deflate)
        case "br" where BrotliDecoder.isAvailable: BrotliDecoder()
        case "zstd" where ZstdDecoder.isAvailable: ZstdDecoder()
        default: UnknownCoding("'\(coding.prefix(40))' is unknown; decompress = false takes the body as it is")
        }
    }
}

/// A coding that can't be decoded: it fails with the body's first byte, and never for an empty body.
private final class UnknownCoding: ContentDecoder {
    private let problem: String

    init(_ problem: String) { self.problem = problem }

    let isAtEnd = true

    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int) {
        throw NetworkError(.invalidContentEncoding, "the body's Content-Encoding \(problem)", phase: .receiving)
    }
}
