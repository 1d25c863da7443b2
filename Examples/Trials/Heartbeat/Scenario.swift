import CurlTransport
import NetworkCore
import NetworkTesting

/// One way to hold up a loop.
struct Scenario: Sendable {
    let name: String
    var configuration = CurlNetworkDispatcher.Configuration()
    /// The work that a loop does once in its life, which is measured separately.
    let prepare: (@Sendable (Attempt) async throws -> Void)?
    let body: @Sendable (Attempt) async throws -> Void

    init(
        _ name: String, perHost: Int? = nil, waiting: Int? = nil,
        after prepare: (@Sendable (Attempt) async throws -> Void)? = nil,
        _ body: @escaping @Sendable (Attempt) async throws -> Void
    ) {
        self.name = name
        if let perHost { configuration.maximumConnectionsPerOrigin = perHost }
        if let waiting { configuration.maximumQueued = waiting }
        self.prepare = prepare
        self.body = body
    }

    static let all = ordinary + names + queues + heads + peers + secure
}

extension Scenario {
    static let ordinary = [
        Scenario("ordinary load") { attempt in
            try await attempt.withNeighbour("a neighbor") {
                let server = try ScriptedPeer.answering(.ok("well"))
                defer { server.stop() }
                let request = TransportRequest(url: try RequestURL(server.url()))
                for _ in 0..<10 { await attempt.askMany(64, request) }
            }
        }
    ]
}
