import Foundation
import Logging
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The wire log", .patience(minutes: 1))
struct WireLogTests {
    /// A log handler that keeps its messages.
    private struct Recorder: LogHandler {
        final class Lines: Sendable {
            private let lines = Guarded<[String]>([])
            var all: [String] { lines.withLock { $0 } }
            func add(_ line: String) { lines.withLock { $0.append(line) } }
        }

        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add("\(event.message)") }
    }

    @Test func `a wire log shows heads and sizes, and no secret`() async throws {
        let server = try ScriptedServer(
            .ok("body-secret", fields: [("Set-Cookie", "sid=cookie-secret"), ("X-Answer", "yes")]))
        defer { server.stop() }
        let lines = Recorder.Lines()
        let logger = Logger(label: "wire") { _ in Recorder(lines: lines) }
        var request = TransportRequest(method: .post, url: try RequestURL(server.url("/a?key=query-secret")))
        request.headerFields[.authorization] = "Bearer header-secret"
        request.headerFields[.accept] = "text/plain"
        request.body = .bytes(Data("upload-secret".utf8))
        request.options.wireLog = WireLog(logger)
        _ = try await CurlNetworkDispatcher().send(request).body.collect()
        let text = lines.all.joined(separator: "\n")
        #expect(text.contains("> POST /a?… HTTP/1.1"))
        #expect(text.contains("> Accept: text/plain"))
        #expect(text.contains("> Authorization: …"))
        #expect(text.contains("< X-Answer: yes"))
        #expect(text.contains("< Set-Cookie: …"))
        #expect(text.contains("[11 bytes of body]"))
        #expect(!text.contains("secret"))
    }
}
