import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// A response whose body waits holds its place among the requests to its origin.
@Suite("Responses that wait", .patience(minutes: 1))
struct HeldResponseTests {
    /// Regression: a decision that sent a request waited for the place of its own redirect, without end.
    @Test func `a decision that needs the place of its redirect fails after the idle timeout`() async throws {
        let redirect = Script.head(302, fields: [("Location", "/next"), ("Content-Length", "50000000")])
        let server = try ScriptedServer([.read, .send(redirect + Data(count: 8 << 20)), .stall], .ok("next"))
        defer { server.stop() }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 1
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let other = NetworkClient(transport: dispatcher)
        let url = server.url()
        var client = NetworkClient(transport: dispatcher)
        client.options.idleTimeout = .milliseconds(300)
        client.redirectPolicy = .deciding { _ in
            _ = try await other.send(RequestData(url: url), as: .text)
            return .stop
        }
        let error = await expectFailure(.redirectRefused) { [client] in
            try await client.send(RequestData(url: url), as: .text)
        }
        #expect(error.map { "\($0)".contains("decision") } == true)
        // The place is free again.
        #expect(try await other.send(RequestData(url: url), as: .text).body == "next")
    }
}
