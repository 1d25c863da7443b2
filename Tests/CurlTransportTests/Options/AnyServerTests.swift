import Logging
import NetworkCore
import Synchronization
import Testing

@testable import CurlTransport

@Suite("Trusting any server")
struct AnyServerTests {
    /// A log handler that keeps its messages.
    private struct Record: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        final class Lines: Sendable {
            let all = Guarded<[String]>([])
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.all.withLock { $0.append("\(event.level): \(event.message)") }
        }
    }

    @Test func `a transport that trusts any server is logged once, as a warning`() {
        let lines = Record.Lines()
        let logger = Logger(label: "test") { _ in Record(lines: lines) }
        _ = CurlNetworkDispatcher(configuration: CurlNetworkDispatcher.Configuration(), logger: logger)
        #expect(lines.all.withLock { $0 }.isEmpty)
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.unsafelyTrustsAnyServer = true
        _ = CurlNetworkDispatcher(configuration: configuration, logger: logger)
        #expect(lines.all.withLock { $0 }.count == 1)
        #expect(lines.all.withLock { $0 }.first?.hasPrefix("warning: ") == true)
    }
}
