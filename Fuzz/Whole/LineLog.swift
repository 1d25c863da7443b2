import Logging
import Synchronization

/// A log handler that keeps the messages, at most 2,000 of them.
struct LineLog: LogHandler {
    private final class Kept: Sendable {
        let lines = Mutex<[String]>([])
    }

    private let kept = Kept()
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    var lines: [String] { kept.lines.withLock { $0 } }
    var logger: Logger { Logger(label: "fuzz") { _ in self } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        kept.lines.withLock { if $0.count < 2_000 { $0.append("\(event.message)") } }
    }
}
