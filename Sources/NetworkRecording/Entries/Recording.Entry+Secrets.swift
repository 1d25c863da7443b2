import FoundationEssentials
public import NetworkCore

extension Recording {
    /// The bodies that are recorded.
    public struct Bodies: Sendable, Hashable {
        private let isAll: Bool

        /// Bodies with a structure in which secrets have names: JSON, lines of JSON, forms and event streams. Of others
        /// (texts, HTML, XML, scripts, multipart bodies, files, and what is compressed), the length alone is recorded.
        public static let structured = Bodies(isAll: false)
        /// The others too, as they are, with any secret in them.
        public static let all = Bodies(isAll: true)

        /// Whether a body without a structure is recorded.
        var keepOthers: Bool { isAll }
    }
}

extension Recording.Entry {
    /// Leaves out all secrets, and adds the parts that had some to ``redacted``. `REDACTED` takes their place.
    ///
    /// - Header fields and trailers: the values of ``NetworkCore/SecretFields``, of the given names, of
    ///   `Idempotency-Key` and of `Last-Event-ID`. Of a challenge the scheme and the words of the protocol stay.
    /// - URLs: the user, the password and the values of parameters with a secret name, in a path, a query and a
    ///   fragment.
    /// - JSON, lines of JSON, and JSON in the data of an event stream: the values of members with a secret name, each
    ///   replaced by one of its type: `"REDACTED"`, `0`, `[]` or `{}`. `true`, `false` and `null` stay, and so do all
    ///   other bytes.
    /// - Forms: the values of fields with a secret name.
    /// - Any other value in one of these, and the reason phrase: if it looks like the value of `Authorization`, or is a
    ///   JSON Web Token (RFC 7519); and secrets of URLs, of lists of parameters (`a=b; token=c`) and of JSON in it, but
    ///   of no further text within that.
    /// - Bodies without a structure are left out as a whole, and counted in ``Recording/Body/omitted``, unless they are
    ///   asked for.
    ///
    /// A secret in a path or in free text is not recognized. Applying the rule twice changes nothing more.
    /// - Parameters:
    ///   - secretFields: The names of header fields that are secret besides those of ``NetworkCore/SecretFields``.
    ///     Default: none.
    ///   - bodies: The bodies that are kept. Default: those with a structure.
    public mutating func redactSecrets(
        in secretFields: Set<HTTPField.Name> = [], bodies: Recording.Bodies = .structured
    ) {
        redacted.formUnion(request.redactSecrets(in: secretFields, bodies))
        guard var shown = response else { return }
        if let body = shown.body.withoutSecrets(shown.headerFields, bodies) {
            shown.body = body
            redacted.insert(.responseBody)
        }
        if let reason = TextSecrets.redacted(shown.reason) {
            shown.reason = reason
            redacted.insert(.reason)
        }
        if let fields = FieldSecrets.redacted(shown.headerFields, hiding: secretFields) {
            shown.headerFields = fields
            redacted.insert(.responseFields)
        }
        if let trailers = shown.trailers, let fields = FieldSecrets.redacted(trailers, hiding: secretFields) {
            shown.trailers = fields
            redacted.insert(.trailers)
        }
        response = shown
    }
}

extension Recording.Request {
    /// The request without its body, if that has no structure; else `nil`.
    var withoutOtherBody: Recording.Request? {
        guard let shown = body?.withoutSecrets(headerFields, .structured), shown.isLeftOut else { return nil }
        var request = self
        request.body = shown
        return request
    }

    /// - Returns: The parts that had secrets.
    fileprivate mutating func redactSecrets(
        in secretFields: Set<HTTPField.Name>, _ bodies: Recording.Bodies
    ) -> Set<Recording.Part> {
        var parts: Set<Recording.Part> = []
        if let text = TextSecrets.redacted(url) {
            url = text
            parts.insert(.url)
        }
        if let shown = body?.withoutSecrets(headerFields, bodies) {
            body = shown
            parts.insert(.requestBody)
        }
        if let fields = FieldSecrets.redacted(headerFields, hiding: secretFields) {
            headerFields = fields
            parts.insert(.requestFields)
        }
        return parts
    }
}

extension Recording.Body {
    /// Returns the body without its secrets, or `nil` if it contains none.
    fileprivate func withoutSecrets(_ fields: HTTPFields, _ bodies: Recording.Bodies) -> Recording.Body? {
        var fields = fields
        if let mediaType { fields[.contentType] = mediaType }
        var shown = self
        switch BodySecrets.verdict(on: bytes, fields) {
        case .unchanged: return nil
        case .replaced(let text): shown.bytes = Data(text)
        case .leftOut:
            guard !bodies.keepOthers else { return nil }
            (shown.bytes, shown.omitted) = (Data(), count)
        }
        return shown
    }
}
