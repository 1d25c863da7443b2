public import Logging

/// Writes what goes over the wire, heads and events but no bodies, into a swift-log `Logger`, with the secrets left out.
///
/// ```swift
/// request.options.wireLog = WireLog(Logger(label: "wire"))
/// ```
///
/// Each line is one message at debug level, on the transport's own thread: `>` is sent, `<` received, `*` told by the
/// library below, and bodies are a count of bytes. The values of Authorization, Cookie, Set-Cookie, Proxy-Authorization
/// and of the names that you add are replaced by `…`, and so are queries.
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

    init(secrets: [String]) {
        let always = ["authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key"]
        self.secrets = always + secrets.map { $0.lowercased() }
    }

    /// The line with the values of secret fields and queries replaced by `…`.
    ///
    /// A field may stand anywhere in the line: libraries tell of HTTP/2 fields as `[authorization: …]`.
    func redacted(_ line: String) -> String {
        let lower = line.lowercased()
        var cut = line.endIndex
        for secret in secrets {
            guard let range = lower.firstRange(of: secret + ":") else { continue }
            // Lower-casing may change the number of characters, never that of the ASCII before the name.
            let offset = lower.utf8.distance(from: lower.startIndex, to: range.upperBound)
            cut = min(
                cut, line.utf8.index(line.startIndex, offsetBy: offset, limitedBy: line.endIndex) ?? line.startIndex)
        }
        let kept = String(line[..<cut])
        return withoutQueries(kept) + (cut < line.endIndex ? " …" : "")
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
