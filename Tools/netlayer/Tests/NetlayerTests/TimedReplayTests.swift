import Foundation
import NetworkLayer
import NetworkRecording
import Testing
import ToolSupport

@testable import netlayer

@Suite("netlayer replay --timing", .patience(minutes: 1)) struct TimedReplayTests {
    /// Regression: all entries that were due began at once, however many they were.
    @Test(arguments: [1, 3, 20]) func `no more requests than the limit are in progress`(limit: Int) async throws {
        let transport = CountingTransport()
        let start = Date()
        let entries = (0..<20).map { Recording.Entry(started: start, request: .init(url: "http://h/\($0)")) }
        let again = RecordedAgain(transport: transport, fields: try ReplacedFields([]), timeout: .seconds(30))
        var names: Set<String> = []
        try await ReplayCommand.send(entries, of: again, from: start, limit: limit) { outcome in
            transport.counts.withLock { $0.ended += 1 }
            names.insert(outcome.name)
        }
        #expect(names.count == 20)
        let most = transport.counts.withLock { $0.most }
        #expect(most <= limit)
    }

    /// Counts the requests in progress: those that have begun and whose outcome has not been taken yet.
    private final class CountingTransport: HTTPTransport {
        struct Counts {
            var begun = 0
            var ended = 0
            var most = 0
        }

        let counts = Guarded(Counts())
        var name: String { "test" }
        var capabilities: TransportCapabilities { .init(transport: name, basis: "test", supported: []) }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            counts.withLock { counts in
                counts.begun += 1
                counts.most = max(counts.most, counts.begun - counts.ended)
            }
            return TransportResponse(head: HTTPResponse(status: .ok), body: TransportResponse.Body(Data()))
        }
    }
}
