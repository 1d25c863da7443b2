import Foundation
import CurlTransport
import NetworkCore
import NetworkTesting

/// Peers that send an endless stream of TLS records without data, which OpenSSL reads in one call.
extension Scenario {
    static let secure = [
        // A loop's first TLS connection reads the system's authorities.
        Scenario("HelloRequests without end", after: { try await hellos($0, 1) }) { try await hellos($0, 16) },
        Scenario("session tickets without end", after: { try await tickets($0, 1) }) { try await tickets($0, 16) },
    ]

    private static func hellos(_ attempt: Attempt, _ count: Int) async throws {
        let record = Data([22, 3, 3, 0, 4, 0, 0, 0, 0])
        let records = (0..<4_096).reduce(into: Data()) { data, _ in data += record }
        let server = try ScriptedPeer.answering([.readBody(1), .flood(records)])
        defer { server.stop() }
        try await ask(attempt, count, "https://127.0.0.1:\(server.port)/", TransportOptions())
    }

    /// Uses the port and certificate of `scripts/peers/tls-flood`, which `scripts/heartbeat` starts.
    private static func tickets(_ attempt: Attempt, _ count: Int) async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let port = environment["TICKET_FLOOD_PORT"], let authority = environment["TICKET_FLOOD_AUTHORITY"] else {
            return attempt.note("skipped: TICKET_FLOOD_PORT is not set")
        }
        var options = TransportOptions()
        options.tls.authorities = .file(authority)
        try await ask(attempt, count, "https://localhost:\(port)/", options)
    }

    private static func ask(
        _ attempt: Attempt, _ count: Int, _ url: String, _ options: TransportOptions
    ) async throws {
        var options = options
        options.totalTimeout = .seconds(20)
        let request = TransportRequest(url: try RequestURL(url), options: options)
        try await attempt.withNeighbour("a neighbor") { await attempt.askMany(count, request) }
    }
}
