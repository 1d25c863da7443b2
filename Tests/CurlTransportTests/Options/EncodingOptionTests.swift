import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

@Suite("Encodings beyond gzip", .patience(minutes: 1))
struct EncodingOptionTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let encoding: TransportOptions.ContentEncoding
        let base64: String
        let text: String
        var testDescription: String { encoding.rawValue }
        var body: Data { Data(base64Encoded: base64) ?? Data() }
        var isSupported: Bool { CurlNetworkDispatcher.shared.capabilities.supported.isSuperset(of: encoding.required) }

        /// Returns the exchange with a server that sends a body in the encoding.
        func exchange(_ body: Data) async throws -> (Exchange, ReceivedRequest?) {
            try await withServer(.response(fields: [("Content-Encoding", encoding.rawValue)], body: body)) { server in
                let exchange = try await Exchange(server.url()) { $0.acceptedEncodings = [encoding, .gzip] }
                return (exchange, server.requests.first)
            }
        }
    }

    static let samples = [
        Sample(
            encoding: .brotli, base64: "Gz8B+I1Utb8GEZOjk2lsbzXIbDXARzqx2j4A",
            text: String(repeating: "hello in brotli ", count: 20)),
        Sample(
            encoding: .zstd, base64: "KLUv/QRYrQAAcGhlbGxvIGluIHpzdGQgAQAHoU4lHeZumQ==",
            text: String(repeating: "hello in zstd ", count: 20)),
    ]

    @Test(arguments: samples)
    func `an encoding is asked for and decoded`(sample: Sample) async throws {
        guard sample.isSupported else {
            await expectFailure(.unsupported) { try await sample.exchange(sample.body) }
            return
        }
        let (exchange, request) = try await sample.exchange(sample.body)
        #expect(exchange.text == sample.text)
        #expect(exchange.metrics.responseWireBytes == sample.body.count)
        #expect(request?.values(of: "Accept-Encoding") == ["\(sample.encoding.rawValue), gzip"])
    }

    @Test func `an error names an unknown encoding, and what to do`() async throws {
        let fields = [("Content-Encoding", "aws-chunked")]
        try await withServer(.response(fields: fields, body: Data("x".utf8))) { server async throws in
            let error = await expectFailure(.invalidContentEncoding) { try await Exchange(server.url()) }
            #expect(error?.message.contains("'aws-chunked' is unknown; decompress = false") == true)
            #expect(try await Exchange(server.url()) { $0.decompress = false }.text == "x")
        }
    }

    @Test(arguments: samples)
    func `an encoding that ends early or is damaged is an error`(sample: Sample) async {
        guard sample.isSupported else { return }
        let whole = sample.body
        for (body, code) in [
            (whole.dropLast(1), NetworkError.Code.truncatedBody), (whole.prefix(whole.count / 2), .truncatedBody),
            (Data(repeating: 0xFF, count: 50), .invalidContentEncoding),
            (whole + Data("more".utf8), .invalidContentEncoding),
        ] {
            await expectFailure(code) { try await sample.exchange(Data(body)) }
        }
    }
}
