import NetworkCore

/// Secrets in header fields and trailers.
enum FieldSecrets {
    /// Returns the fields without secrets, or `nil` if they contain none.
    /// - Parameter names: The names that are secret besides those that no description shows.
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
        if Redaction(secrets: names).isHidden(field.name) {
            return value == SecretMark.text || value.isEmpty ? nil : SecretMark.text
        }
        return TextSecrets.redacted(value)
    }
}
