import HTTPTypes

/// Takes secrets out of the lines of a wire log. It works on bytes: a colon with a combining mark behind it is another
/// Character, and lower case has other lengths.
struct WireRedaction: Sendable {
    private let redaction = Redaction()
    private var secrets: Set<String>

    init(secrets: [String] = []) { self.secrets = Set(secrets.map { $0.lowercased() }) }

    func hiding(_ names: Set<HTTPField.Name>) -> WireRedaction {
        var other = self
        other.secrets.formUnion(names.map(\.canonicalName))
        return other
    }

    /// The lines of a text as they may be shown, empty ones left out.
    ///
    /// A line ends at LF and nowhere else: servers and callers can put any other separator into a value.
    func lines(of text: String, _ direction: Character) -> [String] {
        let pieces = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return pieces.enumerated().compactMap { index, piece in
            let line = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
            guard !line.isEmpty else { return nil }
            switch direction {
            case ">":
                // A head that the socket took in parts is told in parts, and the second may begin within a value.
                let isRequestLine = line.split(separator: 0x20).last?.starts(with: "HTTP/".utf8) == true
                if index == 0 ? !isRequestLine : index == pieces.count - 1 { return redaction.mark }
                return redacted(line)
            case "<": return received(line)
            default: return redacted(line)
            }
        }
    }

    /// A line of a response's head.
    private func received(_ line: Substring.UTF8View) -> String {
        // A folded value goes on here, and may be one of a secret field.
        if line.first == 0x20 || line.first == 0x09 { return redaction.mark }
        guard line.starts(with: "HTTP/".utf8) else { return redacted(line) }
        // Version and status. The reason is a server's free text.
        let words = line.split(separator: 0x20).prefix(2).map { String(Substring($0)) }
        return Redaction.visible(words.joined(separator: " "))
    }

    /// The line with the values of secret fields replaced, and with them whatever follows.
    ///
    /// A field may stand anywhere in the line: libraries tell of HTTP/2 fields as `[authorization: …]`.
    func redacted(_ line: some Collection<UInt8>) -> String {
        let bytes = Array(line.prefix(Redaction.maximumBytes * 4))
        let lower = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        let users = Self.tellsUser.map { lower.firstRange(of: Array($0.utf8))?.upperBound }
        let ends = [endOfSecretName(in: lower)] + users
        if let end = ends.compactMap(\.self).min() {
            return redaction.text(String(decoding: bytes[..<end], as: UTF8.self)) + " " + redaction.mark
        }
        if let end = endOfURLName(in: lower) {
            let (name, value) = (bytes[..<end], bytes[end...].drop { $0 == 0x20 })
            let url = redaction.url(String(decoding: value, as: UTF8.self))
            return Redaction.visible(String(decoding: name, as: UTF8.self)) + " " + url
        }
        return redaction.text(String(decoding: bytes, as: UTF8.self))
    }

    /// What libcurl puts before a user's name and before the data of Negotiate.
    private static let tellsUser = [" with user '", "header part:"]

    /// The offset behind the colon of the first name that says it is secret, or of the line's own where its value does.
    private func endOfSecretName(in line: [UInt8]) -> Int? {
        end(in: line) { name, value in
            let text = String(decoding: name, as: UTF8.self)
            if SecretFields.namesSecret(name) || Redaction.unshown.contains(text) { return true }
            if secrets.contains(text) { return true }
            return name.startIndex == 0 && Redaction.namesCredentials(String(decoding: value, as: UTF8.self))
        }
    }

    private func endOfURLName(in line: [UInt8]) -> Int? { end(in: line) { name, _ in Redaction.holdsURL(name) } }

    /// The offset behind the colon of the first name that fits.
    private func end(in line: [UInt8], where fits: (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Bool) -> Int? {
        var start = 0
        for (index, byte) in line.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                continue
            case UInt8(ascii: ":") where fits(line[start..<index], line[(index + 1)...]): return index + 1
            default: start = index + 1
            }
        }
        return nil
    }
}
