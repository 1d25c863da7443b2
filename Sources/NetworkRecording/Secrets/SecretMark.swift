/// What stands in a recording for a secret that was left out.
///
/// The text is a token (RFC 9110 §5.6.2): a client that replays a response sends it as the password or the token that
/// it has found there.
enum SecretMark {
    /// The mark in a header field.
    static let text = "REDACTED"
    /// The mark in any text, a URL or a form.
    static let bytes = Array(text.utf8)
    /// The mark in a JSON text.
    static let json = Array("\"\(text)\"".utf8)
}
