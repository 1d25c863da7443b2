import NetworkCore

/// Secrets in a short text: the value of a header field, a reason phrase, a string of JSON.
enum TextSecrets {
    /// The levels of texts within texts that are looked into: a URL in JSON in a URL.
    static let maximumDepth = 4

    /// Returns the text without its secrets, or `nil` if it contains none.
    /// - Parameter depth: The levels that are left. Without any, a text that may contain another one is a secret.
    static func redacted(_ text: [UInt8], depth: Int = maximumDepth) -> [UInt8]? {
        if Redaction.namesCredentials(text) { return SecretMark.bytes }
        var shown: [UInt8]?
        if text.contains(UInt8(ascii: "\"")) {
            guard depth > 0 else { return SecretMark.bytes }
            shown = JSONSecrets.redacted(text, depth: depth - 1)
        }
        // One rule for each text: two of them would look into what it holds twice, and so on with each level.
        let text = shown ?? text
        if FormSecrets.isForm(text) {
            shown = FormSecrets.redacted(text, depth: depth) ?? shown
        } else if URLSecrets.mayHold(text) {
            shown = URLSecrets.redacted(text, depth: depth) ?? shown
        } else if text.contains(UInt8(ascii: "%")), !text.contains(UInt8(ascii: "\"")),
            URLSecrets.holdsSecret(text, depth: depth)
        {
            return SecretMark.bytes
        }
        return TokenSecrets.redacted(shown ?? text) ?? shown
    }

    /// The passes of the rules over one text.
    private static let maximumPasses = 4

    /// Returns the text without its secrets, or `nil` if it contains none. The same of what is returned is `nil`: where
    /// the mark of one rule is a secret by another one, the rules go over the text again.
    static func redacted(_ text: String) -> String? {
        var shown: [UInt8]?
        for _ in 0..<maximumPasses {
            guard let next = redacted(shown ?? Array(text.utf8)) else {
                return shown.map { String(decoding: $0, as: UTF8.self) }
            }
            shown = next
        }
        return SecretMark.text
    }
}
