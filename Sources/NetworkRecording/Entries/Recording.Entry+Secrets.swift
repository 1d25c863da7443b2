import FoundationEssentials
public import NetworkCore

extension Recording.Entry {
    /// Leaves out all secrets, and adds the parts that had some to ``redacted``.
    ///
    /// - Header fields and trailers: the values of ``NetworkCore/SecretFields``, of the given names, of
    ///   `Idempotency-Key` and `Last-Event-ID`, and of anything that looks like the value of `Authorization` become
    ///   `REDACTED`. Of a challenge the scheme and the words of the protocol stay.
    /// - URLs, also in header fields such as `Location` and `Referer` and in strings of JSON: user and password are
    ///   removed, and the values of parameters with a secret name become `REDACTED`.
    /// - JSON Web Tokens (RFC 7519) become `REDACTED`: in header fields, URLs and bodies of text.
    /// - Bodies of JSON, lines of JSON and event streams: the values of members with a secret name become `"REDACTED"`,
    ///   `0`, `[]` or `{}`, each of its own type, and strings that look like the value of `Authorization` become
    ///   `"REDACTED"`; JSON within a string counts. All other bytes stay as they are, and so do `true`, `false` and
    ///   `null`. So do members in other texts (a script, a page), and the lines of data of events that are no JSON
    ///   count as texts. Forms: the values of secret fields become `REDACTED`.
    /// - Multipart bodies with a secret part or a secret header field, or with a part in Base64 or quoted-printable,
    ///   are left out, and so are bodies that may be texts in which no secret could be found because they are
    ///   compressed or in UTF-16 or UTF-32: all but images, audio, video and fonts.
    ///
    /// A secret in a path, in free text or in an image is not recognized, unless it is a JSON Web Token in a text; nor
    /// is one in a compressed file (`application/gzip`, `application/octet-stream`) without a `Content-Encoding`.
    /// Applying the rule twice changes nothing more.
    /// - Parameter secretFields: The names of header fields that are secret besides those of
    ///   ``NetworkCore/SecretFields``. Default: none.
    public mutating func redactSecrets(in secretFields: Set<HTTPField.Name> = []) {
        redacted.formUnion(request.redactSecrets(in: secretFields))
        guard var shown = response else { return }
        if let body = shown.body.withoutSecrets(shown.headerFields) {
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
    /// Leaves out all secrets, by the rule of ``Recording/Entry/redactSecrets(in:)``.
    /// - Returns: The parts that had some.
    @discardableResult
    mutating func redactSecrets(in secretFields: Set<HTTPField.Name>) -> Set<Recording.Part> {
        var parts: Set<Recording.Part> = []
        let text = URLSecrets.redacted(Array(url.utf8))
        if let text = TokenSecrets.redacted(text ?? Array(url.utf8)) ?? text {
            url = String(decoding: text, as: UTF8.self)
            parts.insert(.url)
        }
        if let shown = body?.withoutSecrets(headerFields) {
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
    fileprivate func withoutSecrets(_ fields: HTTPFields) -> Recording.Body? {
        var fields = fields
        if let mediaType { fields[.contentType] = mediaType }
        var shown = self
        switch BodySecrets.verdict(on: bytes, fields) {
        case .unchanged: return nil
        case .replaced(let text): shown.bytes = Data(text)
        case .leftOut: (shown.bytes, shown.omitted) = (Data(), count)
        }
        return shown
    }
}
