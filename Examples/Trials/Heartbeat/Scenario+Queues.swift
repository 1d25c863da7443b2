import CurlTransport
import NetworkCore
import NetworkTesting
import TrialSupport

/// Many requests: waiting, timed out, cancelled, running.
extension Scenario {
    static let queues = [
        Scenario("the most that may wait, cancelled", perHost: 2, waiting: 200_000, cancelled),
        Scenario("20,000 timers", perHost: 2) { try await timers($0) { .milliseconds(500 + $0 * 7919 % 2_000) } },
        Scenario("20,000 timers at once", perHost: 2) { try await timers($0) { _ in .seconds(1) } },
        Scenario("1,000 start, and time out at once", perHost: 1_000) { try await running($0, "http") },
        Scenario("500 start TLS, and time out at once", perHost: 1_000, after: firstOverTLS) {
            try await running($0, "https", 500)
        },
        Scenario("1,000 run, and are cancelled at once", perHost: 1_000, stopped),
    ]

    private static func cancelled(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.stalling()
        defer { server.stop() }
        let request = TransportRequest(url: try RequestURL(server.url()))
        try await attempt.withNeighbour("a neighbor") {
            var calls = (0..<(attempt.isShort ? 20_000 : 100_000)).map { _ in
                Task { [dispatcher = attempt.dispatcher] in _ = try await dispatcher.send(request) }
            }
            var random = SeededGenerator(seed: 7)
            calls.shuffle(using: &random)
            for call in calls { call.cancel() }
            for call in calls {
                if case .failure(NetworkError.cancelled) = await call.result { continue }
                attempt.expect(false, "a cancelled request ended in another outcome")
            }
        }
    }

    private static func timers(_ attempt: Attempt, _ timeout: @escaping @Sendable (Int) -> Duration) async throws {
        let server = try ScriptedPeer.stalling()
        defer { server.stop() }
        try await attempt.withNeighbour("a neighbor") {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<20_000 {
                    group.addTask {
                        var options = TransportOptions()
                        options.totalTimeout = timeout(number)
                        let code = await attempt.ask(server.url(), options)
                        attempt.expect(code == .totalTimeout, "a timeout ended in \(code?.rawValue ?? "a response")")
                    }
                }
            }
        }
    }

    private static func running(_ attempt: Attempt, _ scheme: String, _ count: Int = 1_000) async throws {
        let server = try ScriptedPeer.stalling()
        defer { server.stop() }
        var options = TransportOptions()
        options.totalTimeout = .milliseconds(1_500)
        let request = TransportRequest(url: try RequestURL("\(scheme)://127.0.0.1:\(server.port)/"), options: options)
        try await attempt.withNeighbour("a neighbor") { await attempt.askMany(count, request) }
    }

    private static func firstOverTLS(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.stalling()
        defer { server.stop() }
        var options = TransportOptions()
        options.totalTimeout = .milliseconds(300)
        let code = await attempt.ask("https://127.0.0.1:\(server.port)/", options)
        attempt.expect(code == .totalTimeout, "the first ended in \(code?.rawValue ?? "a response")")
    }

    private static func stopped(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.stalling()
        defer { server.stop() }
        let request = TransportRequest(url: try RequestURL(server.url()))
        let calls = (0..<1_000).map { _ in
            Task { [dispatcher = attempt.dispatcher] in _ = try await dispatcher.send(request) }
        }
        try await server.wait { $0.requests.count == 1_000 }
        for call in calls { call.cancel() }
        for call in calls { _ = await call.result }
    }
}
