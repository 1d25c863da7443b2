import Foundation
import NetworkLayer
import NetworkTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BodyContract {
    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 1 << 20, 8 << 20]

    @Test(arguments: ContractTransport.all, sizes)
    func body_isTheSameBothWays(transport: ContractTransport, size: Int) async throws {
        let sent = PatternBytes.make(count: size)
        let returned = PatternBytes.make(count: size, from: 7)
        let server = try ScriptedServer(.answer(body: returned))
        defer { server.stop() }
        let answer = try await transport.send(.post, server.url(), body: sent)
        #expect(answer.body == returned)
        #expect(answer.metrics.responseBodyBytes == nil || answer.metrics.responseBodyBytes == size)
        #expect(server.requests.map { $0.body == sent } == [true])
    }

    @Test(arguments: ContractTransport.all)
    func chunkedBody_isPutTogether(transport: ContractTransport) async throws {
        let chunks = [PatternBytes.make(count: 1), PatternBytes.make(count: 70_000), PatternBytes.make(count: 10)]
        var text = Script.head(200, fields: [("Transfer-Encoding", "chunked")])
        for chunk in chunks {
            text += Data("\(String(chunk.count, radix: 16));extension=1\r\n".utf8) + chunk + Data("\r\n".utf8)
        }
        text += Data("0\r\n\r\n".utf8)
        let server = try ScriptedServer([.forEachRequest([.send(text)])])
        defer { server.stop() }
        for _ in 0..<2 {
            #expect(try await transport.send(.get, server.url()).body == chunks.reduce(Data(), +))
        }
        try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
    }

    @Test(arguments: ContractTransport.all)
    func bodyUntilTheClose_isWhole(transport: ContractTransport) async throws {
        let body = PatternBytes.make(count: 100_000)
        let server = try ScriptedServer(.raw(Script.head(200, fields: [("Connection", "close")]) + body))
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).body == body)
    }

    @Test(arguments: ContractTransport.all)
    func bytesAfterTheBody_areNotPartOfIt(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"))
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).text == "abc")
    }

    @Test(arguments: ContractTransport.all)
    func demoServer_measuresTheUpload(transport: ContractTransport) async throws {
        let body = PatternBytes.make(count: 3_000_000)
        let answer = try await transport.send(.put, try await Demo.url("/upload"), body: body)
        #expect(answer.text == #"{"bytes":3000000,"crc32":"\#(CRC32.of(body).text)"}"#)
    }

    @Test(arguments: ContractTransport.all)
    func demoServer_servesThePattern(transport: ContractTransport) async throws {
        let answer = try await transport.send(.get, try await Demo.url("/bytes/300000"))
        #expect(answer.body == PatternBytes.make(count: 300_000))
    }
}
