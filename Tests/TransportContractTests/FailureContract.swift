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
        let error = await expectFailure(.connectFailed, in: .connecting) {
            try await transport.send(.get, port.url("/x?secret"))
        }
        #expect(error?.underlying != nil)
        #expect(error?.exchange?.transport == transport.kind)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: ContractTransport.all)
    func `an unknown host is nameNotResolved`(transport: ContractTransport) async throws {
        await expectFailure(.nameNotResolved, in: .connecting) {
            try await transport.send(.get, "http://nonexistent.invalid/")
        }
    }

    /// The tables of `HostileContract` have more.
    private static let faults = [
        ContractCase("closed without a response", .closed, .failure(.connectionLost)),
        ContractCase("reset without a response", .reset, .failure(.connectionLost)),
        ContractCase("closed at once", [.close], .failure(.connectionLost)),
        ContractCase("closed in the body", .truncated, .failure(.truncatedBody)),
        ContractCase(
            "reset in the body",
            [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123"), .pause(.milliseconds(50)), .reset],
            .failure(.truncatedBody)),
        ContractCase("binary", .raw(PatternBytes.make(count: 3000)), .failure(.invalidResponse)),
        ContractCase(
            "bad status", "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", .failure(.invalidResponse)),
        ContractCase(
            "bad chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n",
            .failure(.invalidResponse)),
        ContractCase(
            "a head that ends early", "HTTP/1.1 200 OK\r\nContent-Le", .failure(.connectionLost),
            exclusion: .headThatEndsEarly),
    ]

    @Test(arguments: ContractTransport.all, faults)
    func `a broken response is an error`(transport: ContractTransport, fault: ContractCase) async throws {
        try await fault.check(over: transport)
    }

    /// A server that starts or ends, or a balancer without servers: nothing has gone out, and another attempt is safe.
    @Test(
        arguments: ContractTransport.all,
        [("greeted", [.readBody(100), .close]), ("closed", [.close]), ("reset", [.readBody(100), .reset])]
            as [(String, Script)])
    func `a connection that ends in the TLS handshake is connectFailed`(
        transport: ContractTransport, end: (name: String, script: Script)
    ) async throws {
        func check() async throws {
            try await withServer(end.script) { server in
                _ = await expectFailure(.connectFailed, in: .connecting) {
                    try await transport.send(.get, "https://127.0.0.1:\(server.port)/")
                }
            }
        }
        if end.name == "reset" {
            try await transport.run(.resetInHandshake) { try await check() }
        } else {
            try await check()
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a failure leaves the transport usable`(transport: ContractTransport) async throws {
        try await withServer(.closed, .truncated, .garbage, .reset, .ok("fine")) { server in
            for code in [NetworkError.Code.connectionLost, .truncatedBody, .invalidResponse, .connectionLost] {
                await expectFailure(code) { try await transport.send(.post, server.url(), body: Data("x".utf8)) }
            }
            let last = try await transport.send(.get, server.url())
            #expect(last.text == "fine")
        }
    }
}
