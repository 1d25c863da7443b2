import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct LimitContract {
    private static let size = 100_000
    private static let scripts: [(name: String, script: Script)] = [
        ("known length", .response(body: PatternBytes.make(count: size))),
        (
            "chunked",
            .raw(
                Script.head(200, fields: [("Transfer-Encoding", "chunked")]) + Data("186a0\r\n".utf8)
                    + PatternBytes.make(count: size) + Data("\r\n0\r\n\r\n".utf8)
            )
        ),
        ("until the close", .raw(Script.head(200) + PatternBytes.make(count: size))),
    ]

    @Test(arguments: ContractTransport.all, scripts.map(\.name))
    func `the limit is exact`(transport: ContractTransport, name: String) async throws {
        let script = try #require(Self.scripts.first { $0.name == name }?.script)
        let server = try ScriptedServer(script)
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url()) { $0.maximumBodyBytes = Self.size }
        #expect(answer.body == PatternBytes.make(count: Self.size))
        for limit in [Self.size - 1, 1, 0] {
            await expectFailure(.bodyTooLarge) {
                try await transport.send(.get, server.url()) { $0.maximumBodyBytes = limit }
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a limit of 0 takes an empty body`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()) { $0.maximumBodyBytes = 0 }.body.isEmpty)
    }

    @Test(arguments: ContractTransport.all)
    func `an endless body is cut off at the limit`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .send(Script.head(200)), .flood(PatternBytes.make(count: 1 << 16))])
        defer { server.stop() }
        await expectFailure(.bodyTooLarge) {
            try await transport.send(.get, server.url()) { $0.maximumBodyBytes = 1 << 20 }
        }
        try await server.wait { $0.connectionsEndedByPeer == 1 }
    }

    @Test(arguments: ContractTransport.all)
    func `a large head is refused`(transport: ContractTransport) async throws {
        let line = ("X-Long", String(repeating: "v", count: 90_000))
        for fields in [Array(repeating: line, count: 6), [("X-Long", String(repeating: "v", count: 150_000))]] {
            let server = try ScriptedServer(.response(fields: fields))
            defer { server.stop() }
            try await transport.run(.largeHead) {
                await expectFailure(.responseHeadTooLarge) { try await transport.send(.get, server.url()) }
            }
        }
    }
}
