import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ContentEncodingContract {
    private static let plain = PatternBytes.make(count: 200_000)
    private static let packed = Gzip.stored(plain)
    private static let bomb = Gzip.zeros(count: 4 << 20)

    private static func encoded(_ body: Data, _ encoding: String = "gzip") -> Script {
        .response(fields: [("Content-Encoding", encoding)], body: body)
    }

    /// Gzip without its last byte, in chunks.
    private static let cutChunks: Script = {
        let head = Script.head(200, fields: [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")])
        let size = Data("\(String(packed.count - 1, radix: 16))\r\n".utf8)
        return [.read, .send(head + size + packed.dropLast() + Data("\r\n0\r\n\r\n".utf8))]
    }()

    private static let wrongChecksum: Data = {
        var damaged = packed
        damaged[damaged.count - 8] ^= 1
        return damaged
    }()

    private static let responses: [ContractCase] = [
        ContractCase("gzip is decoded", to: encoded(packed)) {
            #expect($0.body == plain)
            #expect($0.values(of: "Content-Encoding") == ["gzip"])
            #expect($0.values(of: "Content-Length") == ["\(packed.count)"])
        },
        ContractCase("empty gzip is empty", encoded(Gzip.stored(Data())), .response(200, "")),
        ContractCase("a body of no bytes is empty", encoded(Data()), .response(200, "")),
        ContractCase("a HEAD response has no encoded body", .head, to: encoded(Data())) {
            #expect($0.values(of: "Content-Encoding") == ["gzip"])
        },
        ContractCase("the identity coding is left alone", to: encoded(plain, "identity")) { #expect($0.body == plain) },
        ContractCase(
            "a raw body is left alone", to: encoded(packed), exclusion: .rawBody, options: { $0.decompress = false }
        ) {
            #expect($0.body == packed)
            #expect($0.request?.values(of: "Accept-Encoding") == ["identity"])
        },
        ContractCase(
            "the limit counts decoded bytes", encoded(bomb), .failure(.bodyTooLarge),
            change: { $0.maximumBodyBytes = 1 << 20 }),
        ContractCase(
            "a byte less than the decoded body", encoded(bomb), .failure(.bodyTooLarge),
            change: { $0.maximumBodyBytes = (4 << 20) - 1 }),
        ContractCase(
            "a limit of the decoded body's size", to: encoded(bomb), options: { $0.maximumBodyBytes = 4 << 20 }
        ) { #expect(bomb.count < 40_000 && $0.body == Data(count: 4 << 20)) },
        ContractCase("no gzip", encoded(Data("this is not gzip".utf8)), .failure(.invalidContentEncoding)),
        ContractCase(
            "gzip that ends early", encoded(packed.prefix(100_000)), .failure(.truncatedBody), exclusion: .truncatedGzip
        ),
        ContractCase(
            "gzip that ends early in chunks", cutChunks, .failure(.truncatedBody), exclusion: .truncatedGzip),
        ContractCase("gzip with a wrong checksum", encoded(wrongChecksum), .failure(.invalidContentEncoding)),
    ]

    @Test(arguments: ContractTransport.all, responses)
    func `an encoded body is decoded, or an error`(transport: ContractTransport, message: ContractCase) async throws {
        try await message.check(over: transport)
    }

    /// The servers fall silent: an error that needs more bytes would arrive only with the idle timeout.
    @Test(arguments: ContractTransport.all, ["gzip", "deflate", "br", "zstd"])
    func `a damaged body on a connection that stalls is an error at once`(
        transport: ContractTransport, encoding: String
    ) async throws {
        let needed: TransportCapabilities.Capability? = ["br": .brotli, "zstd": .zstd][encoding]
        if let needed, !transport.transport.capabilities.supports(needed) { return }
        let head = Script.head(200, fields: [("Content-Encoding", encoding), ("Content-Length", "100000")])
        for count in [1, 20_000] {
            let damaged = Data("this is not what it says".utf8) + Data(repeating: 0xFF, count: count)
            try await withServer([.read, .send(head + damaged), .stall]) { server in
                for isCollected in [false, true] {
                    let body = try await transport.start(.get, server.url()) { $0.idleTimeout = .seconds(20) }.body
                    await expectFailure(.invalidContentEncoding) {
                        if isCollected { _ = try await body.collect() } else { for try await _ in body {} }
                    }
                }
            }
        }
    }

    // MARK: Request bodies

    @Test(arguments: ContractTransport.all)
    func `a request body is packed on request`(transport: ContractTransport) async throws {
        let plain = Data(String(repeating: "the same again, ", count: 20_000).utf8)
        let answer = try await transport.send(.post, to: .ok(), body: plain) { $0.requestCompression = .gzip }
        #expect(answer.status == 200)
        let seen = try #require(answer.request)
        #expect(seen.values(of: "Content-Encoding") == ["gzip"])
        #expect(seen.values(of: "Content-Length") == ["\(seen.body.count)"])
        #expect(seen.body.count < plain.count / 50)
        // Decoded by a transport that knows nothing of the encoder.
        #expect(try await transport.send(to: Self.encoded(seen.body)).body == plain)
    }

    @Test(arguments: ContractTransport.all, [nil, Data()])
    func `an empty request body is not packed`(transport: ContractTransport, body: Data?) async throws {
        let answer = try await transport.send(body == nil ? .get : .post, to: .ok(), body: body) {
            $0.requestCompression = .gzip
        }
        #expect(answer.request?.values(of: "Content-Encoding") == [] && answer.request?.body == Data())
    }

    @Test(arguments: ContractTransport.all)
    func `packing a packed body is refused`(transport: ContractTransport) async throws {
        for (fields, level) in [([("content-encoding", "br")], 6), ([], 10)] {
            await expectFailure(.invalidOption) {
                try await transport.send(.post, "http://127.0.0.1:1/", fields: fields, body: Self.plain) {
                    $0.requestCompression = .gzip(level: level)
                }
            }
        }
    }
}
