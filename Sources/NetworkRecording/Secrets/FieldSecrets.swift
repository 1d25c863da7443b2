import NetworkCore

/// Secrets in header fields and trailers.
enum FieldSecrets {
    /// Returns the fields without secrets, those of some names among them, or `nil` if they contain none.
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

/// The words of the protocol in challenges (RFC 9110 §11.6.1), to which a client of a replay responds as before.
enum ChallengeSecrets {
    /// Returns the value of `WWW-Authenticate` or `Proxy-Authenticate` without its texts.
    static func redacted(_ value: String) -> String {
        let shown = AuthenticationChallenge.all(in: value).compactMap { challenge -> String? in
            guard let name = schemes[challenge.scheme] else { return nil }
            let texts = parameters.compactMap { parameter in
                challenge[parameter.name].flatMap { text(of: parameter, $0) }
            }
            return texts.isEmpty ? name : "\(name) \(texts.joined(separator: ", "))"
        }
        return shown.isEmpty ? SecretMark.text : shown.joined(separator: ", ")
    }

    private static let schemes = [
        "basic": "Basic", "bearer": "Bearer", "digest": "Digest", "negotiate": "Negotiate", "ntlm": "NTLM",
    ]

    /// The parameters of RFC 7616 §3.3 with the words of the protocol; without any, the value is the server's text.
    private static let parameters: [(name: String, words: Set<String>)] = [
        ("realm", []), ("nonce", []), ("opaque", []), ("qop", ["auth", "auth-int"]),
        ("algorithm", ["md5", "md5-sess", "sha-256", "sha-256-sess", "sha-512-256", "sha-512-256-sess"]),
        ("stale", ["true", "false"]), ("userhash", ["true", "false"]), ("charset", ["utf-8"]),
    ]

    private static func text(of parameter: (name: String, words: Set<String>), _ value: String) -> String? {
        let words = value.split { $0 == "," || $0 == " " }.filter { parameter.words.contains($0.lowercased()) }
        guard !words.isEmpty || parameter.words.isEmpty else { return nil }
        return "\(parameter.name)=\"\(words.isEmpty ? SecretMark.text : words.joined(separator: ","))\""
    }
}
