package import Logging

/// A log handler that accepts every message and stores none.
package struct QuietLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.trace

    package init() {}

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {}
}
