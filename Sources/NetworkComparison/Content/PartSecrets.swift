import NetworkCore

/// What a report may show of a part of a response.
struct PartSecrets: Sendable {
    private let redaction: Redaction

    /// - Parameter secretFields: The header fields that are secret besides those of ``SecretFields``.
    init(_ secretFields: Set<HTTPField.Name>) { redaction = Redaction(secrets: secretFields) }

    private static let hidden = "…"

    /// Returns the printable form of a whole value.
    func shown(_ text: String, in place: String) -> String {
        let name = place.prefix { $0 != ":" }
        switch name {
        case "field":
            return lines(text) { value(String(place.dropFirst(name.count + 1)), $0) }
        case "trailers":
            return lines(text) { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return Self.hidden }
                return "\(parts[0]): \(value(String(parts[0]), String(String(parts[1]).withoutBlanks)))"
            }
        // Names, and no values.
        case "fieldOrder", "fieldCase": return Redaction.visible(text)
        // Any part of the path may say what its values are.
        case "json" where place.split(atByte: UInt8(ascii: "/")).dropFirst().contains { Self.isSecretKey($0) }:
            return Self.hidden
        default:
            let isHidden = Redaction.namesCredentials(text.utf8) || Self.mentionsSecret(text)
            return isHidden ? Self.hidden : redaction.text(text)
        }
    }

    /// Returns the printable form of a place: what is below a key that names a secret may be one, too.
    func shownPlace(_ place: String) -> String {
        guard place.hasBytePrefix("json:") else { return place }
        var parts = place.split(atByte: UInt8(ascii: "/"))
        for index in parts.indices.dropFirst() where isSecretItself(parts[index]) { parts[index] = Self.hidden[...] }
        guard let secret = parts.firstIndex(where: Self.isSecretKey), secret + 1 < parts.count else {
            return parts.joined(separator: "/")
        }
        return parts[...secret].joined(separator: "/") + "/" + Self.hidden
    }

    /// Whether a key, as a path has it (RFC 6901), is what is never printed: a token, a URL with a user or a query.
    private func isSecretItself(_ key: Substring) -> Bool {
        let key = Self.unescaped(key)
        return Redaction.namesCredentials(key.utf8) || redaction.text(key) != Redaction.visible(key)
    }

    /// Returns a key as the body has it (RFC 6901 §4).
    private static func unescaped(_ key: Substring) -> String {
        let parts = key.split(atByte: UInt8(ascii: "~"))
        return parts.dropFirst().reduce(String(parts.first ?? "")) { key, part in
            key + (part.first == "1" ? "/" : "~") + part.dropFirst()
        }
    }

    /// Whether a key, as a path has it, names a secret.
    private static func isSecretKey(_ key: Substring) -> Bool { isSecret(Substring(unescaped(key))) }

    private func lines(_ text: String, _ shown: (String) -> String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { shown(String($0)) }.joined(separator: "\n")
    }

    private func value(_ name: String, _ value: String) -> String {
        guard let name = HTTPField.Name(name), !Self.assignsSecret(value) else { return Self.hidden }
        return redaction.value(of: HTTPField(name: name, value: value))
    }

    static func isSecret(_ name: Substring) -> Bool {
        SecretFields.namesSecret(Array(String(name).lowercasedASCII.utf8))
    }

    /// Whether the value of a field has a word that names a secret and is followed by one: `password=…`.
    private static func assignsSecret(_ value: String) -> Bool {
        value.split(omittingEmptySubsequences: false) { "=:".contains($0) }.dropLast().contains { part in
            let word = part.reversed().drop { !isOfName($0) }.prefix(while: isOfName)
            return isSecret(Substring(String(word.reversed())))
        }
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || character == "_" || character == "-"
    }

    /// Whether a text has a word that names a secret: a member of JSON in an event, a parameter.
    private static func mentionsSecret(_ text: String) -> Bool {
        text.split { !isOfName($0) }.contains(where: isSecret)
    }
}
