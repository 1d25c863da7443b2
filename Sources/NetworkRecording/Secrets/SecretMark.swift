/// What stands in a recording for a secret that was left out.
enum SecretMark {
    /// The mark in a header field.
    static let text = "…"
    /// The mark in a URL and in a form, percent-encoded.
    static let encoded = Array("%E2%80%A6".utf8)
    /// The mark in a JSON text.
    static let json = Array("\"…\"".utf8)
}
