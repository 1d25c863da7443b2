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
    private let redaction: Redaction
    /// The limit on the bytes of the heads and trailers of one response that are logged.
    package static let maximumReceivedBytes = 65_536

    /// Creates a wire log.
    /// - Parameters:
    ///   - logger: The logger for the lines, which have debug level.
    ///   - secretFields: Further header fields whose values are secret. Default: none.
    public convenience init(_ logger: Logger, secretFields: Set<HTTPField.Name> = []) {
        self.init(logger, Redaction(secrets: secretFields))
    }

    private init(_ logger: Logger, _ redaction: Redaction) {
        self.logger = logger
        self.redaction = redaction
    }

    func hiding(_ names: Set<HTTPField.Name>) -> WireLog {
        names.isEmpty ? self : WireLog(logger, Redaction(secrets: redaction.secrets.union(names)))
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

extension Redaction {
    /// Returns the printable form of each line of a text, without empty lines.
    func lines(of text: String, _ direction: Character) -> [String] {
        let pieces = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return pieces.enumerated().compactMap { index, piece in
            let line = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
            guard !line.isEmpty else { return nil }
            switch direction {
            case ">":
                // A head that the socket accepted in parts is also logged in parts, and the second may begin within a
                // value.
                if index > 0 { return index == pieces.count - 1 ? mark : field(line) }
                let isRequestLine = line.split(separator: 0x20).last?.starts(with: "HTTP/".utf8) == true
                return isRequestLine ? self.text(String(Substring(line))) : mark
            case "<": return received(line)
            // A libcurl message has one line. One with more lines contains what it quotes.
            default: return index == 0 ? message(line, of: text.utf8) : index == 1 ? mark : nil
            }
        }
    }

    private func received(_ line: Substring.UTF8View) -> String {
        // A folded line continues a value, which may be that of a secret field.
        if line.first.map(Self.isBlank) ?? true { return mark }
        guard line.starts(with: "HTTP/".utf8) else { return field(line) }
        // Only the digits of version and status are shown. The reason phrase is free text of the server.
        let version = line.prefix(8).prefix { !Self.isBlank($0) }
        let status = line.dropFirst(version.count).drop(while: Self.isBlank).prefix(3)
        guard version.dropFirst(5).allSatisfy({ $0 == UInt8(ascii: ".") || $0.isDigit }),
            status.allSatisfy(\.isDigit)
        else { return mark }
        return String(decoding: version, as: UTF8.self) + " " + String(decoding: status, as: UTF8.self)
    }

    private func field(_ line: Substring.UTF8View) -> String {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            return text(String(Substring(line)), isField: true)
        }
        let (name, value) = (String(Substring(line[..<colon])), line[line.index(after: colon)...])
        let start = Self.visible(name, limit: 256) + ": "
        // A damaged name may have been that of a secret field.
        guard let field = HTTPField.Name(name) else { return start + mark }
        let shown = String(Substring(value.drop(while: Self.isBlank)))
        return start + self.value(shown, of: field, limit: Self.maximumBytes - start.utf8.count)
    }

    /// Returns the printable form of a message of libcurl, up to what it quotes of a request or of a proxy's user.
    private func message(_ line: Substring.UTF8View, of whole: String.UTF8View) -> String {
        let message = String(Substring(line))
        let wasCut = whole.count >= Self.cutMessage || whole[line.endIndex...].contains(UInt8(ascii: "@"))
        if let bracket = Self.startOfField(in: line) {
            // HTTP/2 and HTTP/3: `[HTTP/2] [1] [name: value]`.
            let field = line[line.index(after: bracket)...]
            let prefix = text(String(Substring(line[...bracket])), wasCut: wasCut)
            // A pseudo-field has a colon before its name.
            let shown = field.first == Self.colon ? text(String(Substring(field))) : self.field(field)
            return Self.visible(prefix + shown)
        }
        guard let end = Self.libcurlsQuotes.compactMap({ message.utf8.firstRange(of: $0.utf8)?.upperBound }).min()
        else {
            return text(message, wasCut: wasCut)
        }
        return text(String(message[..<end])) + mark
    }

    /// The length, in bytes, from which on libcurl may have cut its message: its buffer holds 2,048 bytes.
    private static let cutMessage = 2000
    private static let colon = UInt8(ascii: ":")

    /// The texts that libcurl writes before a user's name, the data of Negotiate, and an HTTP/2 field.
    private static let libcurlsQuotes = [" with user '", "header part:", "value: ["]

    /// Returns the bracket before the first `[name: …`.
    private static func startOfField(in line: Substring.UTF8View) -> String.Index? {
        var start: String.Index?
        var last = UInt8(ascii: "[")
        for index in line.indices {
            switch line[index] {
            case UInt8(ascii: "["): start = index
            case UInt8(ascii: " ") where last == colon && start != nil: return start
            case let byte where !byte.isOfToken && byte != colon: start = nil
            default: break
            }
            last = line[index]
        }
        return nil
    }
}
