import HTTPTypes

/// Takes secrets out of the lines of a wire log. It works on bytes: a colon with a combining mark behind it is another
/// Character, and lower case has other lengths.
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

    /// The lines of a text as they may be shown, empty ones left out.
    ///
    /// A line ends at LF and nowhere else: servers and callers can put any other separator into a value.
    func lines(of text: String, _ direction: Character) -> [String] {
        let isHead = direction == ">" || direction == "<"
        // Of libcurl's own words, all at once: a password may have line feeds in it.
        let text = isHead ? text : withoutUsers(text, isWhole: text.utf8.count < Self.cutInfo)
        let pieces = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return pieces.enumerated().compactMap { index, piece in
            let line = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
            guard !line.isEmpty else { return nil }
            switch direction {
            case ">":
                // A head that the socket took in parts is told in parts, and the second may begin within a value.
                if index > 0 { return index == pieces.count - 1 ? redaction.mark : redacted(line, isField: true) }
                let isRequestLine = line.split(separator: 0x20).last?.starts(with: "HTTP/".utf8) == true
                return isRequestLine ? redacted(line) : redaction.mark
            case "<": return received(line)
            // libcurl says one thing in one line; what has more is a request that it signs, or a user that has lines.
            default: return index == 0 ? redacted(line) : index == 1 ? redaction.mark : nil
            }
        }
    }

    /// From how many bytes on libcurl may have cut what it tells; it has room for 2048.
    private static let cutInfo = 2000

    /// A library's words without users and passwords.
    /// - Parameter isWhole: Whether nothing was cut from their end.
    func withoutUsers(_ text: String, isWhole: Bool) -> String {
        String(decoding: QuotedUser(redaction.mark).hidden(in: Array(text.utf8), isWhole: isWhole), as: UTF8.self)
    }

    /// A line of a response's head.
    private func received(_ line: Substring.UTF8View) -> String {
        // A folded value goes on here, and may be one of a secret field.
        if line.first.map(Redaction.isBlank) ?? true { return redaction.mark }
        guard line.starts(with: "HTTP/".utf8) else { return redacted(line, isField: true) }
        // Version and status, and no more than their digits. The reason is a server's free text.
        let version = line.prefix(8).prefix { !Redaction.isBlank($0) }
        let status = line.dropFirst(version.count).drop(while: Redaction.isBlank).prefix(3)
        guard version.dropFirst(5).allSatisfy({ $0 == UInt8(ascii: ".") || Self.isDigit($0) }),
            status.allSatisfy(Self.isDigit)
        else { return redaction.mark }
        return String(decoding: version, as: UTF8.self) + " " + String(decoding: status, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The line with the values of secret fields replaced, and with them whatever follows.
    ///
    /// A field may stand anywhere in the line: libraries tell of HTTP/2 fields as `[authorization: …]`.
    /// - Parameter isField: Whether all before the first colon is meant for a name.
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

    /// What libcurl puts before a user's name, the data of Negotiate, a field of HTTP/2 and what it signs.
    private static let tellsUser = [" with user '", "header part:", "value: [", "aws_sigv4:"].map { Array($0.utf8) }

    /// The offset behind the first place of a text.
    private static func end(of text: [UInt8], in line: [UInt8]) -> Int? {
        guard line.count >= text.count else { return nil }
        return (text.count...line.count).first { end in
            let start = end - text.count
            return line[start] == text[0] && line[start..<end].elementsEqual(text)
        }
    }
}

/// The names of fields in a line, in lower case: what stands before each colon. Each byte is looked at a few times at
/// most, for a server says what the line is, and it is read on the loop's thread.
struct WireFieldScan {
    /// The offset behind the colon of the first name that says it is secret, or of the first where its value does.
    private(set) var secret: Int?
    /// The offset behind the colon of the first name of a URL.
    private(set) var url: Int?

    private let hidden: Set<ArraySlice<UInt8>>

    init(_ line: [UInt8], isField: Bool, hidden: Set<ArraySlice<UInt8>>) {
        self.hidden = hidden
        // The run of a name's bytes that ended last; blanks between it and the colon are let pass.
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
