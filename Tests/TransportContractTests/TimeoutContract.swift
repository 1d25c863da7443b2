import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct TimeoutContract {
    private func options(_ options: inout TransportOptions) {
        options.connectTimeout = .seconds(20 * patienceFactor)
        options.idleTimeout = .seconds(20 * patienceFactor)
        options.totalTimeout = .seconds(20 * patienceFactor)
    }

    @Test(arguments: ContractTransport.all)
    func `the idle timeout ends a silent wait`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        let error = await expectFailure(.idleTimeout) {
            try await transport.send(.get, server.url("/a?secret")) {
                options(&$0)
                $0.idleTimeout = .milliseconds(400)
            }
        }
        let exchange = try #require(error?.exchange)
        #expect(exchange.url == server.url("/a?…"))
        #expect(exchange.elapsed >= .milliseconds(400))
        try await server.wait { $0.connectionsEndedByPeer == 1 }
    }

    @Test(arguments: ContractTransport.all)
    func `the idle timeout ends a silent body`(transport: ContractTransport) async throws {
        let head = Script.head(200, fields: [("Content-Length", "100")])
        let server = try ScriptedServer([.read, .send(head + Data("half".utf8)), .stall])
        defer { server.stop() }
        await expectFailure(.idleTimeout) {
            try await transport.send(.get, server.url()) {
                options(&$0)
                $0.idleTimeout = .milliseconds(400)
            }
        }
        try await server.wait { $0.connectionsEndedByPeer == 1 }
    }

    @Test(arguments: ContractTransport.all)
    func `the idle timeout ends an upload that the server does not read`(transport: ContractTransport) async throws {
        let gate = Gate()
        let server = try ScriptedServer([.wait(until: gate)])
        defer { server.stop() }
        await expectFailure(.idleTimeout) {
            try await transport.send(.post, server.url(), body: Data(count: 32 << 20)) {
                options(&$0)
                $0.idleTimeout = .milliseconds(400)
            }
        }
        gate.open()
    }

    /// On a kept connection, the system may accept the whole body at once.
    @Test(arguments: ContractTransport.all, [false, true])
    func `the idle timeout is not for an upload that moves`(transport: ContractTransport, isKept: Bool) async throws {
        let (size, answer) = (640 << 10, Script.Step.send("HTTP/1.1 204 x\r\n\r\n"))
        // Longer in all than the timeout.
        let upload = [.readHead, .readBody(size, each: 15_000, pause: .milliseconds(100 * pauseFactor)), answer]
        let server = try ScriptedServer(scripts: [Script(isKept ? [.read, answer] + upload : upload)], segment: 1000)
        defer { server.stop() }
        if isKept { _ = try await transport.send(.get, server.url()) }
        try await transport.run(.slowUpload) {
            let answer = try await transport.send(.post, server.url(), body: Data(count: size)) {
                options(&$0)
                $0.idleTimeout = .seconds(4 * pauseFactor)
            }
            #expect(answer.status == 204)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the idle timeout starts anew with every byte`(transport: ContractTransport) async throws {
        let body = Data(repeating: 0x61, count: 60)
        let head = Script.head(200, fields: [("Content-Length", "60")])
        // Longer in all than the timeout.
        let server = try ScriptedServer([
            .read, .send(head), .sendSplit(body, each: 1, pause: .milliseconds(100 * pauseFactor)),
        ])
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url()) {
            options(&$0)
            $0.idleTimeout = .seconds(4 * pauseFactor)
        }
        #expect(answer.body == body)
    }

    @Test(arguments: ContractTransport.all)
    func `the total timeout ends a moving exchange`(transport: ContractTransport) async throws {
        let head = Script.head(200, fields: [("Content-Length", "100000")])
        let drops = Data(repeating: 0x61, count: 5000)
        let server = try ScriptedServer([.read, .send(head), .sendSplit(drops, each: 1, pause: .milliseconds(20))])
        defer { server.stop() }
        // The time counts before there is a connection, too, and without one the server would see no end.
        let timeout = Duration.milliseconds(1500 * pauseFactor)
        let error = await expectFailure(.totalTimeout) {
            try await transport.send(.get, server.url()) {
                options(&$0)
                $0.totalTimeout = timeout
            }
        }
        #expect(try #require(error?.exchange).elapsed >= timeout)
        try await server.wait { $0.connectionsEndedByPeer == 1 }
    }

    @Test(arguments: ContractTransport.all)
    func `the total timeout ends a silent wait`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        await expectFailure(.totalTimeout) {
            try await transport.send(.get, server.url()) {
                options(&$0)
                $0.totalTimeout = .milliseconds(400)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the connect timeout ends a connection that is not made`(transport: ContractTransport) async throws {
        let listener = try FullListener()
        defer { listener.stop() }
        let error = await expectFailure(.connectTimeout) {
            try await transport.send(.get, listener.url()) {
                options(&$0)
                $0.connectTimeout = .milliseconds(400)
            }
        }
        #expect(error?.phase == .connecting)
    }

    @Test(arguments: ContractTransport.all)
    func `the total timeout ends a connection that is not made`(transport: ContractTransport) async throws {
        let listener = try FullListener()
        defer { listener.stop() }
        await expectFailure(.totalTimeout) {
            try await transport.send(.get, listener.url()) {
                options(&$0)
                $0.totalTimeout = .milliseconds(400)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the connect timeout leaves a slow response alone`(transport: ContractTransport) async throws {
        let answer = Script.head(200, fields: [("Content-Length", "4")]) + Data("slow".utf8)
        let server = try ScriptedServer([.read, .pause(.milliseconds(3500 * pauseFactor)), .send(answer)])
        defer { server.stop() }
        let response = try await transport.send(.get, server.url()) {
            options(&$0)
            $0.connectTimeout = .milliseconds(2500 * pauseFactor)
        }
        #expect(response.text == "slow")
    }

    @Test(arguments: ContractTransport.all)
    func `a request without timeouts is fine`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url()) {
            $0.connectTimeout = nil
            $0.idleTimeout = nil
            $0.totalTimeout = nil
        }
        #expect(answer.text == "x")
    }

    @Test(arguments: ContractTransport.all)
    func `a timeout of a year is a timeout`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url()) {
            $0.connectTimeout = TransportOptions.maximumTimeout
            $0.idleTimeout = TransportOptions.maximumTimeout
            $0.totalTimeout = TransportOptions.maximumTimeout
        }
        #expect(answer.text == "x")
    }
}
