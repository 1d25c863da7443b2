import HTTPTypes
public import Logging

/// Writes what goes over the wire, heads and events but no bodies, into a swift-log `Logger`, with the secrets left
/// out.
///
/// ```swift
/// request.options.wireLog = WireLog(Logger(label: "wire"))
/// ```
///
/// Each line is one message at debug level, on the transport's own thread: `>` is sent, `<` received, `*` told by the
/// library below, and bodies are a count of bytes. The values of ``SecretFields``, of
/// ``TransportOptions/secretFields`` and of
/// the names that you add are replaced by `…`, and so are queries, fragments, and users and passwords of URLs. Control
/// characters are written as `\u{1B}`, and a line has at most 1,024 bytes: a server can't forge one.
///
/// Two wire logs are equal if they are the same object, so that options stay comparable.
public final class WireLog: Sendable, Hashable {
    private let logger: Logger
    private let redaction: WireRedaction

    /// A wire log.
    /// - Parameters:
    ///   - logger: Where the lines go.
    ///   - secrets: More header fields whose values are secret, in any case.
    public convenience init(_ logger: Logger, secrets: [String] = []) {
        self.init(logger, WireRedaction(secrets: secrets))
    }

    private init(_ logger: Logger, _ redaction: WireRedaction) {
        self.logger = logger
        self.redaction = redaction
    }

    /// The same log, with more names that are secret.
    func hiding(_ names: Set<HTTPField.Name>) -> WireLog {
        names.isEmpty ? self : WireLog(logger, redaction.hiding(names))
    }

    /// Writes what was sent or received of a head, or what the library below tells: one message for each line.
    package func write(_ direction: Character, _ text: String) {
        guard logger.logLevel <= .debug else { return }
        for line in redaction.lines(of: text, direction) { logger.debug("\(String(direction)) \(line)") }
    }

    /// Writes how much of a body was sent or received.
    package func writeBody(_ direction: Character, bytes: Int) {
        logger.debug("\(String(direction)) [\(bytes) bytes of body]")
    }

    /// Whether it is the same object.
    public static func == (left: WireLog, right: WireLog) -> Bool { left === right }

    /// By identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
