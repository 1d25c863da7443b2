import Testing

@testable import NetworkCore

@Suite("Secrets in the wire log")
struct WireRedactionTests {
    @Test(arguments: [
        ("Authorization: Bearer abc", "Authorization: …"),
        ("AUTHORIZATION:Basic abc", "AUTHORIZATION: …"),
        ("Set-Cookie: sid=1; Path=/", "Set-Cookie: …"),
        ("X-Token: abc", "X-Token: …"),
        ("h2h3 [authorization: Bearer abc]", "h2h3 [authorization: …"),
        ("GET /users?api_key=abc HTTP/1.1", "GET /users?… HTTP/1.1"),
        ("[:path: /users?api_key=abc]", "[:path: /users?…]"),
        ("Host: example.org", "Host: example.org"),
        ("é Cookie: a=1", "é Cookie: …"),
        ("", ""),
    ])
    func lineLosesItsSecrets(line: String, expected: String) {
        #expect(WireRedaction(secrets: ["X-Token"]).redacted(line) == expected)
    }
}
