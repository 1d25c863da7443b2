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

/// Challenges of a server (RFC 9110 §11.6.1) without the texts that the server chose: what remains are the words of the
/// protocol, so that a client responds to a replayed challenge as it did to the recorded one.
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

    private struct Parameter: Sendable {
        let name: String
        var isQuoted = true
        /// The words that the protocol knows; without any, the value is the server's text.
        var words: Set<String> = []
    }

    /// The parameters of RFC 7616 §3.3, in the order in which they are written.
    private static let parameters = [
        Parameter(name: "realm"), Parameter(name: "nonce"), Parameter(name: "opaque"),
        Parameter(name: "qop", words: ["auth", "auth-int"]),
        Parameter(
            name: "algorithm", isQuoted: false,
            words: ["md5", "md5-sess", "sha-256", "sha-256-sess", "sha-512-256", "sha-512-256-sess"]),
        Parameter(name: "stale", isQuoted: false, words: ["true", "false"]),
        Parameter(name: "userhash", isQuoted: false, words: ["true", "false"]),
        Parameter(name: "charset", isQuoted: false, words: ["utf-8"]),
    ]

    private static func text(of parameter: Parameter, _ value: String) -> String? {
        var text = SecretMark.text
        if !parameter.words.isEmpty {
            let words = value.split { $0 == "," || $0 == " " }.filter { parameter.words.contains($0.lowercased()) }
            guard !words.isEmpty else { return nil }
            text = words.joined(separator: ",")
        }
        return "\(parameter.name)=\(parameter.isQuoted ? "\"\(text)\"" : text)"
    }
}
