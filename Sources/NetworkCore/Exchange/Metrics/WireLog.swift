public import HTTPTypes
public import Logging

/// A log of the traffic on the wire, written to a swift-log `Logger`: heads and events without bodies and without
/// secrets.
///
/// ```swift
/// request.options.wireLog = WireLog(Logger(label: "wire"))
/// ```
///
/// Each line is one message at debug level, logged on the transport's own thread. It starts with `>` for sent data, `<`
/// for received data, or `*` for a message of the library below. A body appears as its number of bytes.
///
/// The values of ``SecretFields``, of ``TransportOptions/secretFields`` and of the names that you add appear as `…`,
/// and so do queries, fragments, users and passwords in URLs. A server can't forge a line: control characters are
/// written as `\u{1B}`, and a line has at most 1,024 bytes. Of the heads and trailers of one exchange's response, the
/// first 64 KiB are logged, since that happens while other exchanges wait.
///
/// Two wire logs are equal if they are the same object, so that options stay comparable.
public final class WireLog: Sendable, Hashable {
    private let logger: Logger
    private let redaction: WireRedaction
    /// The limit on the bytes of the heads and trailers of one response that are logged.
    package static let maximumReceivedBytes = 65_536

    /// Creates a wire log.
    /// - Parameters:
    ///   - logger: The logger for the lines, which have debug level.
    ///   - secretFields: Further header fields whose values are secret. Default: none.
    public convenience init(_ logger: Logger, secretFields: Set<HTTPField.Name> = []) {
        self.init(logger, WireRedaction(secrets: secretFields))
    }

    private init(_ logger: Logger, _ redaction: WireRedaction) {
        self.logger = logger
        self.redaction = redaction
    }

    /// Returns the same log with further secret field names.
    func hiding(_ names: Set<HTTPField.Name>) -> WireLog {
        names.isEmpty ? self : WireLog(logger, redaction.hiding(names))
    }

    /// Logs a part of a head, or a message of the library below, with one log message for each line.
    package func write(_ direction: Character, _ text: String) {
        guard logger.logLevel <= .debug else { return }
        for line in redaction.lines(of: text, direction) { logger.debug("\(String(direction)) \(line)") }
    }

    package func writeBody(_ direction: Character, bytes: Int) {
        logger.debug("\(String(direction)) [\(bytes) bytes of body]")
    }

    /// Returns whether both logs are the same object.
    public static func == (left: WireLog, right: WireLog) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
