import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ContentEncodingContract {
    private let plain = PatternBytes.make(count: 200_000)

    private func server(_ body: Data, encoding: String = "gzip") throws -> ScriptedServer {
        try ScriptedServer(.response(fields: [("Content-Encoding", encoding)], body: body))
    }

    @Test(arguments: ContractTransport.all)
    func `gzip is decoded`(transport: ContractTransport) async throws {
        let packed = Gzip.stored(plain)
        let server = try server(packed)
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url())
        #expect(answer.body == plain)
        #expect(answer.values(of: "Content-Encoding") == ["gzip"])
        #expect(answer.values(of: "Content-Length") == ["\(packed.count)"])
    }

    @Test(arguments: ContractTransport.all)
    func `empty gzip is empty`(transport: ContractTransport) async throws {
        let server = try server(Gzip.stored(Data()))
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).body.isEmpty)
    }

    @Test(arguments: ContractTransport.all)
    func `the identity coding is left alone`(transport: ContractTransport) async throws {
        let server = try server(plain, encoding: "identity")
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).body == plain)
    }

    @Test(arguments: ContractTransport.all)
    func `a raw body is left alone`(transport: ContractTransport) async throws {
        let packed = Gzip.stored(plain)
        let server = try server(packed)
        defer { server.stop() }
        try await transport.run(.rawBody) {
            let answer = try await transport.send(.get, server.url()) { $0.decompress = false }
            #expect(answer.body == packed)
            #expect(server.requests.first?.values(of: "Accept-Encoding") == ["identity"])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the limit counts decoded bytes`(transport: ContractTransport) async throws {
        let bomb = Gzip.zeros(count: 4 << 20)
        #expect(bomb.count < 40_000)
        let server = try server(bomb)
        defer { server.stop() }
        await expectFailure(.bodyTooLarge) {
            try await transport.send(.get, server.url()) { $0.maximumBodyBytes = 1 << 20 }
        }
        await expectFailure(.bodyTooLarge) {
            try await transport.send(.get, server.url()) { $0.maximumBodyBytes = (4 << 20) - 1 }
        }
        let answer = try await transport.send(.get, server.url()) { $0.maximumBodyBytes = 4 << 20 }
        #expect(answer.body == Data(repeating: 0, count: 4 << 20))
    }

    @Test(arguments: ContractTransport.all)
    func `a damaged gzip is an error`(transport: ContractTransport) async throws {
        let server = try server(Data("this is not gzip, by no means at all".utf8))
        defer { server.stop() }
        await expectFailure(.invalidContentEncoding) { try await transport.send(.get, server.url()) }
    }

    @Test(arguments: ContractTransport.all)
    func `gzip that ends early is an error`(transport: ContractTransport) async throws {
        let server = try server(Gzip.stored(plain).prefix(100_000))
        defer { server.stop() }
        try await transport.run(.truncatedGzip) {
            await expectFailure(.truncatedBody) { try await transport.send(.get, server.url()) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `gzip that ends early in chunks is an error`(transport: ContractTransport) async throws {
        let packed = Gzip.stored(plain)
        let head = Script.head(200, fields: [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")])
        let size = Data("\(String(packed.count - 1, radix: 16))\r\n".utf8)
        let server = try ScriptedServer([
            .read, .send(head + size + packed.dropLast() + Data("\r\n0\r\n\r\n".utf8)),
        ])
        defer { server.stop() }
        try await transport.run(.truncatedGzip) {
            await expectFailure(.truncatedBody) { try await transport.send(.get, server.url()) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `gzip with a wrong checksum is an error`(transport: ContractTransport) async throws {
        var packed = Gzip.stored(plain)
        packed[packed.count - 8] ^= 1
        let server = try server(packed)
        defer { server.stop() }
        await expectFailure(.invalidContentEncoding) { try await transport.send(.get, server.url()) }
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
            let server = try ScriptedServer([.read, .send(head + damaged), .stall])
            defer { server.stop() }
            for isCollected in [false, true] {
                let body = try await transport.start(.get, server.url()) { $0.idleTimeout = .seconds(20) }.body
                await expectFailure(.invalidContentEncoding) {
                    if isCollected { _ = try await body.collect() } else { for try await _ in body {} }
                }
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a body of no bytes is empty`(transport: ContractTransport) async throws {
        let server = try server(Data())
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).body.isEmpty)
        #expect(try await transport.send(.head, server.url()).values(of: "Content-Encoding") == ["gzip"])
    }

    @Test(arguments: ContractTransport.all)
    func `a request body is packed on request`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        let plain = Data(String(repeating: "the same again, ", count: 20_000).utf8)
        let answer = try await transport.send(.post, server.url(), body: plain) { $0.requestCompression = .gzip }
        #expect(answer.status == 200)
        let seen = try #require(server.requests.first)
        #expect(seen.values(of: "Content-Encoding") == ["gzip"])
        #expect(seen.values(of: "Content-Length") == ["\(seen.body.count)"])
        #expect(seen.body.count < plain.count / 50)
        // Decoded by a transport that knows nothing of the encoder.
        let echo = try self.server(seen.body)
        defer { echo.stop() }
        #expect(try await transport.send(.get, echo.url()).body == plain)
    }

    @Test(arguments: ContractTransport.all)
    func `an empty request body is not packed`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        _ = try await transport.send(.post, server.url(), body: Data()) { $0.requestCompression = .gzip }
        _ = try await transport.send(.get, server.url()) { $0.requestCompression = .gzip }
        #expect(server.requests.map { $0.values(of: "Content-Encoding") } == [[], []])
        #expect(server.requests.map(\.body.count) == [0, 0])
    }

    @Test(arguments: ContractTransport.all)
    func `packing a packed body is refused`(transport: ContractTransport) async throws {
        await expectFailure(.invalidOption) {
            try await transport.send(
                .post, "http://127.0.0.1:1/", fields: [("content-encoding", "br")], body: plain
            ) { $0.requestCompression = .gzip }
        }
        await expectFailure(.invalidOption) {
            try await transport.send(.post, "http://127.0.0.1:1/", body: plain) {
                $0.requestCompression = .gzip(level: 10)
            }
        }
    }
}
