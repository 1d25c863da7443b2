import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// The option `--timeout` in each way of delivering a body.
@Suite("The --timeout option", .patience(minutes: 1)) struct FetchTimeoutTests {
    private static let head = Script.head(200, fields: [("Content-Type", "text/event-stream")])

    @Test(arguments: FetchMode.allCases)
    func `the timeout ends an endless body with status 5`(mode: FetchMode) async throws {
        let folder = TestFolder()
        let server = try ScriptedServer([.read, .send(Self.head), .send("data: 1\n\n"), .stall])
        // The event has to arrive before the timeout.
        let timeout = mode == .events ? "\(5 * patienceFactor)" : "1.5"
        let run = try await ToolRun.untilTimeout(
            ["fetch", server.url(), "--timeout", timeout] + mode.arguments(in: folder))
        #expect(run.status == ProcessStatus.timeout.rawValue, "\(run.errors)")
        #expect(run.errors.contains("totalTimeout") && run.errors.contains("--timeout sets the limit"))
        #expect(run.errors.contains(server.url()))
        if mode == .events { #expect(run.text == #"{"id":"","type":"message","data":"1"}"# + "\n") }
    }

    @Test func `all connections of a stream of events share the timeout`() async throws {
        // Each connection brings an event, so that failures do not add up, and requests an immediate reconnection.
        let server = try ScriptedServer([.read, .send(Self.head), .send("retry: 0\ndata: 1\n\n"), .close])
        // Two of them have to be made before it.
        _ = try await ToolRun(
            ["fetch", server.url(), "--events", "--timeout", "\(3 * patienceFactor)"],
            status: ProcessStatus.timeout.rawValue)
        #expect(server.connectionCount > 1)
    }

    @Test func `a stream of events that ends in time succeeds`() async throws {
        let server = try ScriptedServer(.response(204))
        _ = try await ToolRun(["fetch", server.url(), "--events", "--timeout", "30"], status: 0)
    }
}
