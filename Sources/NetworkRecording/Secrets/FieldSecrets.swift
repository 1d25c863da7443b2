import NetworkCore

/// Secrets in header fields and trailers.
enum FieldSecrets {
    /// Returns the fields without secrets, or `nil` if they contain none.
    /// - Parameter names: The names that are secret besides those of ``SecretFields``.
    static func redacted(_ fields: HTTPFields, hiding names: Set<HTTPField.Name>) -> HTTPFields? {
        var (output, isChanged) = (HTTPFields(), false)
        for var field in fields {
            if let value = redacted(field, hiding: names) {
                field.value = value
                isChanged = true
            }
            output.append(field)
        }
        return isChanged ? output : nil
    }

    private static let challenges: Set<HTTPField.Name> = [.wwwAuthenticate, .proxyAuthenticate]

    private static func redacted(_ field: HTTPField, hiding names: Set<HTTPField.Name>) -> String? {
        let value = field.value
        if challenges.contains(field.name), !names.contains(field.name) {
            let shown = ChallengeSecrets.redacted(value)
            return shown.hasSameBytes(as: value) ? nil : shown
        }
        if SecretFields.contains(field.name) || names.contains(field.name) || Redaction.namesCredentials(value.utf8) {
            return value == SecretMark.text || value.isEmpty ? nil : SecretMark.text
        }
        var (bytes, isChanged) = (Array(value.utf8), false)
        if bytes.contains(UInt8(ascii: "\"")), let shown = JSONSecrets.redacted(bytes) {
            (bytes, isChanged) = (shown, true)
        }
        if let shown = URLSecrets.redacted(bytes) { (bytes, isChanged) = (shown, true) }
        return isChanged ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
