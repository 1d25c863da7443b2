import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct FailureContract {
    @Test(arguments: ContractTransport.all)
    func `a closed port is connectFailed`(transport: ContractTransport) async throws {
        let port = try ClosedPort()
        defer { port.stop() }
        let error = await expectFailure(.connectFailed) { try await transport.send(.get, port.url("/x?secret")) }
        #expect(error?.underlying != nil)
        #expect(error?.phase == .connecting)
        #expect(error?.exchange?.transport == transport.kind)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: ContractTransport.all)
    func `an unknown host is nameNotResolved`(transport: ContractTransport) async throws {
        let error = await expectFailure(.nameNotResolved) {
            try await transport.send(.get, "http://nonexistent.invalid/")
        }
        #expect(error?.phase == .connecting)
    }

    @Test(
        arguments: ContractTransport.all,
        [
            ("closed without an answer", NetworkError.Code.connectionLost),
            ("reset without an answer", .connectionLost),
            ("closed at once", .connectionLost),
            ("closed in the body", .truncatedBody), ("closed in the chunks", .truncatedBody),
            ("reset in the body", .truncatedBody), ("not HTTP", .invalidResponse),
            ("binary", .invalidResponse), ("bad status", .invalidResponse), ("bad chunk size", .invalidResponse),
            ("bad length", .invalidResponse), ("negative length", .invalidResponse),
        ]
    )
    func `a broken response is an error`(transport: ContractTransport, fault: (String, NetworkError.Code)) async throws
    {
        let script = try #require(Self.scripts[fault.0])
        let server = try ScriptedServer(script)
        defer { server.stop() }
        await expectFailure(fault.1) { try await transport.send(.get, server.url()) }
    }

    /// A server that starts or ends, or a balancer without servers: nothing has gone out, and another attempt is safe.
    @Test(arguments: ContractTransport.all, [true, false])
    func `a connection that closes in the TLS handshake is connectFailed`(
        transport: ContractTransport, isGreeted: Bool
    ) async throws {
        try await Self.endHandshake(over: transport, isGreeted ? [.readBody(100), .close] : [.close])
    }

    @Test(arguments: ContractTransport.all)
    func `a reset in the TLS handshake is connectFailed`(transport: ContractTransport) async throws {
        try await transport.run(.resetInHandshake) {
            try await Self.endHandshake(over: transport, [.readBody(100), .reset])
        }
    }

    private static func endHandshake(over transport: ContractTransport, _ script: Script) async throws {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        let error = await expectFailure(.connectFailed) {
            try await transport.send(.get, "https://127.0.0.1:\(server.port)/")
        }
        #expect(error?.phase == .connecting, "\(error?.description ?? "")")
    }

    private static let scripts: [String: Script] = [
        "closed without an answer": .closed,
        "reset without an answer": .reset,
        "closed at once": [.close],
        "closed in the body": .truncated,
        "closed in the chunks": .truncatedChunks,
        "reset in the body": [
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123"), .pause(.milliseconds(50)), .reset,
        ],
        "not HTTP": .garbage,
        "binary": .raw(PatternBytes.make(count: 3000)),
        "bad status": .raw("HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n"),
        "bad chunk size": .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n"),
        "bad length": .raw("HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nabc"),
        "negative length": .raw("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc"),
    ]

    /// RFC 9112 §6.3: the coding frames the body.
    @Test(arguments: ContractTransport.all, [1, 5, 1_000_000_000])
    func `a length next to a coding does not count`(transport: ContractTransport, length: Int) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try ScriptedServer(.raw(head + "2\r\nab\r\n0\r\n\r\n"))
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).body == Data("ab".utf8))
    }

    @Test(arguments: ContractTransport.all)
    func `a head that ends early is connectionLost`(transport: ContractTransport) async throws {
        try await transport.run(.headThatEndsEarly) {
            let server = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\nContent-Le"))
            defer { server.stop() }
            await expectFailure(.connectionLost) { try await transport.send(.get, server.url()) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `two lengths are invalid`(transport: ContractTransport) async throws {
        try await transport.run(.conflictingLengths) {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\n"
            let server = try ScriptedServer(.raw(head + "abcde"))
            defer { server.stop() }
            await expectFailure(.invalidResponse) { try await transport.send(.get, server.url()) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a failure leaves the transport usable`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.closed, .truncated, .garbage, .reset, .ok("fine"))
        defer { server.stop() }
        for code in [NetworkError.Code.connectionLost, .truncatedBody, .invalidResponse, .connectionLost] {
            await expectFailure(code) { try await transport.send(.post, server.url(), body: Data("x".utf8)) }
        }
        #expect(try await transport.send(.get, server.url()).text == "fine")
    }
}
