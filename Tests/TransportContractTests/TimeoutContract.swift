import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct TimeoutContract {
    /// Sends a request whose timeouts are far away, but for one.
    private func send(
        _ transport: ContractTransport, _ url: String, _ method: HTTPRequest.Method = .get, body: Data? = nil,
        _ change: (inout TransportOptions) -> Void
    ) async throws -> ContractTransport.Answer {
        try await transport.send(method, url, body: body) {
            let far = Duration.seconds(20 * patienceFactor)
            ($0.connectTimeout, $0.idleTimeout, $0.totalTimeout) = (far, far, far)
            change(&$0)
        }
    }

    private static let half = Script.head(200, fields: [("Content-Length", "100")]) + Data("half".utf8)

    /// Servers that fall silent, and the timeout that ends it.
    private static let silences: [(name: String, script: Script, isIdle: Bool)] = [
        ("no response", .stalled, true), ("half a body", [.read, .send(half), .stall], true),
        ("no response", .stalled, false),
    ]

    @Test(arguments: ContractTransport.all, silences)
    func `a timeout ends a silent exchange`(
        transport: ContractTransport, silence: (name: String, script: Script, isIdle: Bool)
    ) async throws {
        try await withServer(silence.script) { server in
            let timeout = Duration.milliseconds(400)
            let error = await expectFailure(silence.isIdle ? .idleTimeout : .totalTimeout) {
                try await send(transport, server.url("/a?secret")) {
                    if silence.isIdle { $0.idleTimeout = timeout } else { $0.totalTimeout = timeout }
                }
            }
            let exchange = try #require(error?.exchange)
            #expect(exchange.url == server.url("/a?…"))
            #expect(exchange.elapsed >= timeout)
            // The total time counts before there is a connection, too, and without one the server sees no end.
            if silence.isIdle { try await server.wait { $0.connectionsEndedByPeer == 1 } }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the idle timeout ends an upload that the server does not read`(transport: ContractTransport) async throws {
        let gate = Gate()
        try await withServer([.wait(until: gate)]) { server in
            await expectFailure(.idleTimeout) {
                try await send(transport, server.url(), .post, body: Data(count: 32 << 20)) {
                    $0.idleTimeout = .milliseconds(400)
                }
            }
            gate.open()
        }
    }

    /// On a kept connection, the system may accept the whole body at once.
    @Test(arguments: ContractTransport.all, [false, true])
    func `the idle timeout is not for an upload that moves`(transport: ContractTransport, isKept: Bool) async throws {
        let (size, answer) = (640 << 10, Script.Step.send("HTTP/1.1 204 x\r\n\r\n"))
        // Longer in all than the timeout.
        let upload = [.readHead, .readBody(size, each: 15_000, pause: .milliseconds(100 * pauseFactor)), answer]
        try await withServer(Script(isKept ? [.read, answer] + upload : upload), segment: 1000) { server in
            if isKept { _ = try await transport.send(.get, server.url()) }
            try await transport.run(.slowUpload) {
                let answer = try await send(transport, server.url(), .post, body: Data(count: size)) {
                    $0.idleTimeout = .seconds(4 * pauseFactor)
                }
                #expect(answer.status == 204)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the idle timeout starts anew with every byte`(transport: ContractTransport) async throws {
        let body = Data(repeating: 0x61, count: 60)
        let head = Script.head(200, fields: [("Content-Length", "60")])
        // Longer in all than the timeout.
        let drops = Script.Step.sendSplit(body, each: 1, pause: .milliseconds(100 * pauseFactor))
        try await withServer([.read, .send(head), drops]) { server in
            let answer = try await send(transport, server.url()) { $0.idleTimeout = .seconds(4 * pauseFactor) }
            #expect(answer.body == body)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the total timeout ends a moving exchange`(transport: ContractTransport) async throws {
        let head = Script.head(200, fields: [("Content-Length", "100000")])
        let drops = Script.Step.sendSplit(Data(count: 5000), each: 1, pause: .milliseconds(20))
        try await withServer([.read, .send(head), drops]) { server in
            // The time counts before there is a connection, too, and without one the server would see no end.
            let timeout = Duration.milliseconds(1500 * pauseFactor)
            let error = await expectFailure(.totalTimeout) {
                try await send(transport, server.url()) { $0.totalTimeout = timeout }
            }
            #expect(try #require(error?.exchange).elapsed >= timeout)
            try await server.wait { $0.connectionsEndedByPeer == 1 }
        }
    }

    @Test(arguments: ContractTransport.all, [NetworkError.Code.connectTimeout, .totalTimeout])
    func `a timeout ends a connection that is not made`(
        transport: ContractTransport, code: NetworkError.Code
    ) async throws {
        let listener = try FullListener()
        defer { listener.stop() }
        await expectFailure(code, in: code == .connectTimeout ? .connecting : nil) {
            try await send(transport, listener.url()) {
                let timeout = Duration.milliseconds(400)
                if code == .connectTimeout { $0.connectTimeout = timeout } else { $0.totalTimeout = timeout }
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the connect timeout leaves a slow response alone`(transport: ContractTransport) async throws {
        try await withServer([.read, .pause(.milliseconds(3500 * pauseFactor)), .ok("slow")]) { server in
            let answer = try await send(transport, server.url()) {
                $0.connectTimeout = .milliseconds(2500 * pauseFactor)
            }
            #expect(answer.text == "slow")
        }
    }

    @Test(arguments: ContractTransport.all, [nil, TransportOptions.maximumTimeout])
    func `a request without timeouts is fine, and one with timeouts of a year`(
        transport: ContractTransport, time: Duration?
    ) async throws {
        let answer = try await transport.send(to: .ok("x")) {
            ($0.connectTimeout, $0.idleTimeout, $0.totalTimeout) = (time, time, time)
        }
        #expect(answer.text == "x")
    }
}
