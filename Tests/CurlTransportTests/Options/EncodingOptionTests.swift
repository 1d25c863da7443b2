import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

@Suite("Encodings beyond gzip", .patience(minutes: 1))
struct EncodingOptionTests {
    private static let packed: [TransportOptions.ContentEncoding: (base64: String, text: String)] = [
        .brotli: ("Gz8B+I1Utb8GEZOjk2lsbzXIbDXARzqx2j4A", String(repeating: "hello in brotli ", count: 20)),
        .zstd: ("KLUv/QRYrQAAcGhlbGxvIGluIHpzdGQgAQAHoU4lHeZumQ==", String(repeating: "hello in zstd ", count: 20)),
    ]

    @Test(arguments: [
        (TransportOptions.ContentEncoding.brotli, TransportCapabilities.Capability.brotli), (.zstd, .zstd),
    ])
    func `an encoding is asked for and decoded`(
        encoding: TransportOptions.ContentEncoding, capability: TransportCapabilities.Capability
    ) async throws {
        guard CurlNetworkDispatcher.shared.capabilities.supports(capability) else {
            _ = await expectFailure(.unsupported) {
                try await OptionExchange("http://127.0.0.1:1/") { $0.acceptedEncodings = [encoding] }
            }
            return
        }
        let sample = try #require(Self.packed[encoding])
        let body = try #require(Data(base64Encoded: sample.base64))
        try await withServer(.response(fields: [("Content-Encoding", encoding.rawValue)], body: body)) { server in
            let exchange = try await OptionExchange(server.url()) { $0.acceptedEncodings = [encoding, .gzip] }
            #expect(exchange.text == sample.text)
            #expect(exchange.metrics.responseWireBytes == body.count)
            #expect(server.requests.first?.values(of: "Accept-Encoding") == ["\(encoding.rawValue), gzip"])
        }
    }

    @Test func `an error names an unknown encoding, and what to do`() async throws {
        let server = try ScriptedServer(.response(fields: [("Content-Encoding", "aws-chunked")], body: Data("x".utf8)))
        defer { server.stop() }
        let error = await expectFailure(.invalidContentEncoding) { try await OptionExchange(server.url()) }
        #expect(error?.message.contains("'aws-chunked' is unknown; decompress = false") == true)
        #expect(try await OptionExchange(server.url()) { $0.decompress = false }.text == "x")
    }

    @Test(arguments: [TransportOptions.ContentEncoding.brotli, .zstd])
    func `an encoding that ends early or is damaged is an error`(encoding: TransportOptions.ContentEncoding)
        async throws
    {
        guard CurlNetworkDispatcher.shared.capabilities.supported.isSuperset(of: encoding.required) else { return }
        let sample = try #require(Self.packed[encoding])
        let whole = try #require(Data(base64Encoded: sample.base64))
        let damaged = Data(repeating: 0xFF, count: 50)
        for (body, code) in [
            (whole.dropLast(1), NetworkError.Code.truncatedBody), (whole.prefix(whole.count / 2), .truncatedBody),
            (damaged, .invalidContentEncoding), (whole + Data("more".utf8), .invalidContentEncoding),
        ] {
            let server = try ScriptedServer(
                .response(fields: [("Content-Encoding", encoding.rawValue)], body: Data(body)))
            defer { server.stop() }
            await expectFailure(code) {
                try await OptionExchange(server.url()) { $0.acceptedEncodings = [encoding] }
            }
        }
    }
}
