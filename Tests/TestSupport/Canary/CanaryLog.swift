package import Logging
internal import NetworkCore
internal import Synchronization

/// A log that keeps all messages and metadata.
package final class CanaryLog: Sendable {
    private let lines = Guarded<[String]>([])

    package init() {}

    /// All messages, one per line.
    package var text: String { messages.joined(separator: "\n") }
    /// The messages with their metadata.
    package var messages: [String] { lines.withLock { $0 } }

    /// A logger that logs at every level.
    package var logger: Logger { Logger(label: "canary") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: CanaryLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }
}
