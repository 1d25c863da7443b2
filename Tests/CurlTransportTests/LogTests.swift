import Foundation
import Logging
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

/// A log handler that keeps its messages with their levels.
struct Recorder: LogHandler {
    final class Lines: Sendable {
        let all = Guarded<[String]>([])
    }

    private let lines = Lines()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug
    var all: [String] { lines.all.withLock(\.self) }
    var logger: Logger { Logger(label: "recorder") { _ in self } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.level): \(event.message)") } }
}

@Suite("Logs of the curl transport", .patience(minutes: 1))
struct LogTests {
    private let log = Recorder()

    /// The loop's thread writes the log, a line of 4 KB in most of a millisecond.
    @Test func `the log of a long head ends`() async throws {
        let fields = (0..<100).map { ("X-\($0)", String(repeating: "x", count: 2_000)) }
        try await withServer(.ok("body", fields: fields)) { server in
            let exchange = try await Exchange(server.url()) { $0.wireLog = WireLog(log.logger) }
            #expect(exchange.response.head.headerFields.count >= 100)
            let shown = log.all.count { $0.contains(": < X-") }
            #expect(shown > 30 && shown < 34)
            #expect(log.all.count { $0.contains("is not logged") } == 1)
            #expect(log.all.contains { $0.hasSuffix(": < [4 bytes of body]") })
        }
    }

    @Test func `a wire log shows heads and sizes, and no secret`() async throws {
        let fields = [("Set-Cookie", "sid=cookie-secret"), ("X-Answer", "yes")]
        try await withServer(.ok("body-secret", fields: fields)) { server in
            _ = try await Exchange(
                server.url("/a?key=query-secret"), body: .bytes(Data("upload-secret".utf8)),
                fields: [.authorization: "Bearer header-secret", .accept: "text/plain"]
            ) { $0.wireLog = WireLog(log.logger) }
            let text = log.all.joined(separator: "\n")
            for part in [
                "> POST /a?… HTTP/1.1", "> Accept: text/plain", "> Authorization: …", "< X-Answer: yes",
                "< Set-Cookie: …", "[11 bytes of body]",
            ] { #expect(text.contains(part)) }
            #expect(!text.contains("secret"))
        }
    }

    @Test func `a transport that trusts any server is logged once, as a warning`() {
        var configuration = CurlNetworkDispatcher.Configuration()
        _ = CurlNetworkDispatcher(configuration: configuration, logger: log.logger)
        #expect(log.all.isEmpty)
        configuration.unsafelyTrustsAnyServer = true
        _ = CurlNetworkDispatcher(configuration: configuration, logger: log.logger)
        #expect(log.all.count == 1)
        #expect(log.all.first?.hasPrefix("warning: ") == true)
    }
}
