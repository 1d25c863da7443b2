import Foundation
import NetworkLayer
import NetworkRecording
import TestSupport
import Testing

/// The samples of 'Recording and replaying', verbatim. `DocumentationTests` compares the two.
@Suite(.patience(minutes: 1))
struct RecordingSamples {
    typealias GetUsers = ArticleSamples.GetUsers

    func fixture(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)").path
    }

    @Test func `all users are listed`() async throws {
        let transport = try Cassette(fixture("users.har"), over: CurlNetworkDispatcher.shared)
        let users = try await GetUsers(page: 1).send(over: transport).body
        try await transport.close()
        #expect(users.map(\.name) == ["Ada", "Brendan", "Chris"])
    }

    static func record() async throws {
        let file = try RecordingFile("session.har")
        let recorded = RecordingTransport(CurlNetworkDispatcher.shared, to: file)
        let recording = NetworkClient(transport: recorded)
        print(recording)

        try await file.close()
    }
}
