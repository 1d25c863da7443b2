public import Logging

/// Writes what goes over the wire, heads and events but no bodies, into a swift-log `Logger`, with the secrets left out.
///
/// ```swift
/// request.options.wireLog = WireLog(Logger(label: "wire"))
/// ```
///
/// Each line is one message at debug level, on the transport's own thread: `>` is sent, `<` received, `*` told by the
/// library below, and bodies are a count of bytes. The values of ``SecretFields`` and of the names that you add are
/// replaced by `…`, and so are queries.
///
/// Two wire logs are equal if they are the same object, so that options stay comparable.
public final class WireLog: Sendable, Hashable {
    private let logger: Logger
    private let redaction: WireRedaction

    /// A wire log.
    /// - Parameters:
    ///   - logger: Where the lines go.
    ///   - secrets: More header fields whose values are secret, in any case.
    public init(_ logger: Logger, secrets: [String] = []) {
        self.logger = logger
        redaction = WireRedaction(secrets: secrets)
    }

    /// Writes lines, one message each.
    package func write(_ direction: Character, _ text: String) {
        guard logger.logLevel <= .debug else { return }
        for line in text.split(whereSeparator: \.isNewline) {
            logger.debug("\(String(direction)) \(redaction.redacted(String(line)))")
        }
    }

    /// Whether it is the same object.
    public static func == (left: WireLog, right: WireLog) -> Bool { left === right }

    /// By identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Takes secrets out of a line of the wire log.
struct WireRedaction: Sendable {
    private let secrets: [String]

    init(secrets: [String]) { self.secrets = secrets.map { $0.lowercased() + ":" } }

    /// The line with the values of secret fields and queries replaced by `…`.
    ///
    /// A field may stand anywhere in the line: libraries tell of HTTP/2 fields as `[authorization: …]`.
    func redacted(_ line: String) -> String {
        // Bytes, since a colon with a combining mark behind it is another Character, and lower case has other lengths.
        let lower = line.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        let ends =
            secrets.compactMap { lower.firstRange(of: Array($0.utf8))?.upperBound } + [endOfSecretName(in: lower)]
        guard let end = ends.compactMap(\.self).min() else { return withoutQueries(line) }
        return withoutQueries(String(decoding: line.utf8.prefix(end), as: UTF8.self)) + " …"
    }

    /// The offset behind the colon of the first name that says it is secret.
    private func endOfSecretName(in line: [UInt8]) -> Int? {
        var start = 0
        for (index, byte) in line.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                continue
            case UInt8(ascii: ":") where SecretFields.namesSecret(line[start..<index]): return index + 1
            default: start = index + 1
            }
        }
        return nil
    }

    private func withoutQueries(_ line: String) -> String {
        var result = ""
        var isInQuery = false
        for character in line {
            if isInQuery, character == " " || character == "]" || character == "'" || character == "\"" {
                isInQuery = false
            }
            if !isInQuery { result.append(character) }
            if !isInQuery, character == "?" {
                result.append("…")
                isInQuery = true
            }
        }
        return result
    }
}
