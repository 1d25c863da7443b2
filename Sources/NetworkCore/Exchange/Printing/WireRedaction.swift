import HTTPTypes

/// A redactor for the lines of a wire log. It works on bytes, because a colon with a combining mark is another
/// Character, and lowercasing can change lengths.
struct WireRedaction: Sendable {
    private let redaction = Redaction()
    private var hidden: Set<ArraySlice<UInt8>>

    init(secrets: [String] = []) { hidden = Set((secrets + Redaction.unshown).map { Self.name($0) }) }

    func hiding(_ names: Set<HTTPField.Name>) -> WireRedaction {
        var other = self
        other.hidden.formUnion(names.map { Self.name($0.canonicalName) })
        return other
    }

    private static func name(_ text: String) -> ArraySlice<UInt8> { Array(text.lowercasedASCII.utf8)[...] }

    /// Returns the printable form of each line of a text, without empty lines.
    ///
    /// Only LF ends a line: servers and callers can put any other separator into a value.
    func lines(of text: String, _ direction: Character) -> [String] {
        let isHead = direction == ">" || direction == "<"
        // libcurl's messages are redacted as a whole, because a password may contain line feeds.
        let text = isHead ? text : withoutUsers(text, isWhole: text.utf8.count < Self.cutInfo)
        let pieces = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return pieces.enumerated().compactMap { index, piece in
            let line = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
            guard !line.isEmpty else { return nil }
            switch direction {
            case ">":
                // A head that the socket accepted in parts is also logged in parts, and the second may begin within a
                // value.
                if index > 0 { return index == pieces.count - 1 ? redaction.mark : redacted(line, isField: true) }
                let isRequestLine = line.split(separator: 0x20).last?.starts(with: "HTTP/".utf8) == true
                return isRequestLine ? redacted(line) : redaction.mark
            case "<": return received(line)
            // A libcurl message has one line. One with more lines is a request to sign, or contains a user with line
            // feeds.
            default: return index == 0 ? redacted(line) : index == 1 ? redaction.mark : nil
            }
        }
    }

    /// The length, in bytes, from which on libcurl may have cut its message: its buffer holds 2,048 bytes.
    private static let cutInfo = 2000

    /// Returns a library's message without users and passwords.
    /// - Parameter isWhole: Whether nothing was cut from its end.
    func withoutUsers(_ text: String, isWhole: Bool) -> String {
        String(decoding: QuotedUser(redaction.mark).hidden(in: Array(text.utf8), isWhole: isWhole), as: UTF8.self)
    }

    /// Returns the printable form of a line of a response's head.
    private func received(_ line: Substring.UTF8View) -> String {
        // A folded line continues a value, which may be that of a secret field.
        if line.first.map(Redaction.isBlank) ?? true { return redaction.mark }
        guard line.starts(with: "HTTP/".utf8) else {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            // A damaged name may have been that of a secret field.
            if name.contains(where: Redaction.isBlank), name.endIndex != line.endIndex {
                return Redaction.visible(String(Substring(name))) + ": " + redaction.mark
            }
            return redacted(line, isField: true)
        }
        // Only the digits of version and status are shown. The reason phrase is free text of the server.
        let version = line.prefix(8).prefix { !Redaction.isBlank($0) }
        let status = line.dropFirst(version.count).drop(while: Redaction.isBlank).prefix(3)
        guard version.dropFirst(5).allSatisfy({ $0 == UInt8(ascii: ".") || $0.isDigit }),
            status.allSatisfy(\.isDigit)
        else { return redaction.mark }
        return String(decoding: version, as: UTF8.self) + " " + String(decoding: status, as: UTF8.self)
    }

    /// Returns the line with the value of the first secret field, and everything after it, replaced.
    ///
    /// A field may begin anywhere in the line: libraries report HTTP/2 fields as `[authorization: …]`.
    /// - Parameter isField: Whether everything before the first colon is the name.
    func redacted(_ line: some Collection<UInt8>, isField: Bool = false) -> String {
        let start = Array(line.prefix(Redaction.maximumBytes * 2))
        let isWhole = line.count == start.count
        let bytes = isField ? start : QuotedUser(redaction.mark).hidden(in: start, isWhole: isWhole)
        let lower = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        let found = WireFieldScan(lower, isField: isField, hidden: hidden)
        let ends = [found.secret] + Self.tellsUser.map { Self.end(of: $0, in: lower) }
        if let end = ends.compactMap(\.self).min() {
            let blank = bytes[end - 1] == UInt8(ascii: "[") ? "" : " "
            let shown = redaction.text(String(decoding: bytes[..<end], as: UTF8.self), isField: isField)
            return shown + blank + redaction.mark
        }
        if let end = found.url {
            let (name, value) = (bytes[..<end], bytes[end...].drop(while: Redaction.isBlank))
            let url = redaction.url(String(decoding: value, as: UTF8.self))
            return Redaction.visible(String(decoding: name, as: UTF8.self)) + " " + url
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return redaction.text(text[...], isWhole: isWhole, count: line.count, isField: isField)
    }

    /// The texts that libcurl writes before a user's name, the data of Negotiate, an HTTP/2 field, and a request to
    /// sign.
    private static let tellsUser = [" with user '", "header part:", "value: [", "aws_sigv4:"].map { Array($0.utf8) }

    /// Returns the offset after the first occurrence of a text.
    private static func end(of text: [UInt8], in line: [UInt8]) -> Int? {
        guard line.count >= text.count else { return nil }
        return (text.count...line.count).first { end in
            let start = end - text.count
            return line[start] == text[0] && line[start..<end].elementsEqual(text)
        }
    }
}

/// The field names in a lowercase line: the text before each colon. Each byte is read a few times at most, because the
/// server controls the line and the scan runs on the loop's thread.
struct WireFieldScan {
    /// The offset after the colon of the first secret name, or after the first colon if the value after it is secret.
    private(set) var secret: Int?
    /// The offset after the colon of the first name whose value is a URL.
    private(set) var url: Int?

    private let hidden: Set<ArraySlice<UInt8>>

    init(_ line: [UInt8], isField: Bool, hidden: Set<ArraySlice<UInt8>>) {
        self.hidden = hidden
        // The last run of name bytes; blanks between it and the colon are skipped.
        var (start, end, isFirst) = (0, 0, true)
        for (index, byte) in line.enumerated() {
            if Self.isName(byte) {
                if end < index { start = index }
                end = index + 1
            } else if byte == UInt8(ascii: ":") {
                let name = line[start..<end]
                let saysSecret =
                    isFirst
                    && (isField && isSecret(Self.trimmed(line[..<index]))
                        || Redaction.namesCredentials(line[(index + 1)...]))
                if saysSecret || isSecret(name) {
                    secret = index + 1
                    return
                }
                if url == nil, Redaction.holdsURL(name) { url = index + 1 }
                if isField || !name.isEmpty { isFirst = false }
                (start, end) = (index + 1, index + 1)
            } else if !Redaction.isBlank(byte) {
                (start, end) = (index + 1, index + 1)
            }
        }
    }

    private func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
        SecretFields.namesSecret(name) || hidden.contains(name)
    }

    private static func trimmed(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = name.drop(while: Redaction.isBlank)
        return start[..<(start.lastIndex { !Redaction.isBlank($0) }.map { $0 + 1 } ?? start.startIndex)]
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
