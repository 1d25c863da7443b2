import Foundation
import NetworkTesting
import Testing

@testable import netlayer

/// `--timeout` in each way of delivering a body.
@Suite("The longest time", .timeLimit(.minutes(1)))
struct FetchTimeoutTests {
    private static let head = Script.head(200, fields: [("Content-Type", "text/event-stream")])

    @Test("It ends a body without end with status 5", arguments: FetchMode.allCases)
    func endless(mode: FetchMode) async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let server = try ScriptedServer([.read, .send(Self.head), .send("data: 1\n\n"), .stall])
        defer { server.stop() }
        let run = try await ToolRun(
            ["fetch", server.url(), "--timeout", "1.5"] + mode.arguments(in: folder))
        #expect(run.status == ProcessStatus.timeout.rawValue, "\(run.errors)")
        #expect(run.errors.contains("totalTimeout") && run.errors.contains("--timeout sets the limit"))
        #expect(run.errors.contains(server.url()))
        if mode == .events { #expect(run.text == #"{"id":"","type":"message","data":"1"}"# + "\n") }
    }

    @Test("All connections of a stream of events share it")
    func reconnections() async throws {
        // Each brings an event, so that no failures add up, and asks for the next one at once.
        let server = try ScriptedServer([.read, .send(Self.head), .send("retry: 0\ndata: 1\n\n"), .close])
        defer { server.stop() }
        let run = try await ToolRun(["fetch", server.url(), "--events", "--timeout", "3"])
        #expect(run.status == ProcessStatus.timeout.rawValue, "\(run.errors)")
        #expect(server.connectionCount > 1)
    }

    @Test("A stream of events that is over in time ends well")
    func inTime() async throws {
        let server = try ScriptedServer(.answer(204))
        defer { server.stop() }
        let run = try await ToolRun(["fetch", server.url(), "--events", "--timeout", "30"])
        #expect(run.status == 0, "\(run.errors)")
    }
}
