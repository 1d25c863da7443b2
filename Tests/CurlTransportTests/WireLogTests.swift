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

    /// The loop's thread writes the log, a line of 4 KB in most of a millisecond.
    @Test func `the log of a long head ends`() async throws {
        let fields = (0..<100).map { ("X-\($0)", String(repeating: "x", count: 2_000)) }
        try await withServer(.ok("body", fields: fields)) { server in
            let lines = Recorder.Lines()
            var request = TransportRequest(url: try RequestURL(server.url()))
            request.options.wireLog = WireLog(Logger(label: "wire") { _ in Recorder(lines: lines) })
            let response = try await CurlNetworkDispatcher().send(request)
            #expect(response.head.headerFields.count >= 100)
            _ = try await response.body.collect()
            let shown = lines.all.count { $0.hasPrefix("< X-") }
            #expect(shown > 30 && shown < 34)
            #expect(lines.all.count { $0.contains("is not logged") } == 1)
            #expect(lines.all.contains("< [4 bytes of body]"))
        }
    }

    @Test func `a wire log shows heads and sizes, and no secret`() async throws {
        try await withServer(
            .ok("body-secret", fields: [("Set-Cookie", "sid=cookie-secret"), ("X-Answer", "yes")])
        ) { server in
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
}
