import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkRecording

@Suite(.patience(minutes: 1))
struct SecretsTests {
    @Test(arguments: [
        ("http://h/?token=x&a=1", "http://h/?token=REDACTED&a=1"),
        ("http://h/?a=1&API_KEY=x;y#f", "http://h/?a=1&API_KEY=REDACTED#f"),
        ("http://h/?%74oken=x", "http://h/?%74oken=REDACTED"),
        ("http://h/?%2574oken=x", "http://h/?%2574oken=REDACTED"),
        ("http://u:p@h/a", "http://h/a"), ("//u:p@h/a", "//h/a"), ("http://u:p/q@h/a", "http://h/a"),
        ("https://u@h/@user", "https://h/@user"), ("https:u:p@h/", "https:h/"),
        ("http://h/;jsessionid=x/b?c=d", "http://h/;jsessionid=REDACTED/b?c=d"),
        ("http://h/#access_token=x&state=1", "http://h/#access_token=REDACTED&state=1"),
        ("http://h/?next=https%3A%2F%2Fi%2F%3Ftoken%3Dx&a=1", "http://h/?next=REDACTED&a=1"),
        ("http://h/?next=https://i/?token=x", "http://h/?next=https://i/?token=REDACTED"),
        (
            "<https://h/?token=x>; rel=\"next\", <https://h/?a=1>",
            "<https://h/?token=REDACTED>; rel=\"next\", <https://h/?a=1>"
        ),
        ("0; url=https://u:p@h/?token=x", "0; url=https://h/?token=REDACTED"),
        // Regression: a URL in a query ended it, or took a secret's name for a part of its user.
        ("http://h/?next=https://i/x&token=a/b", "http://h/?next=https://i/x&token=REDACTED"),
        ("http://h/?a=http:&token=a,b", "http://h/?a=http:&token=REDACTED"),
        ("?a=b//c&token=a,b", "?a=b//c&token=REDACTED"),
        ("#next=https://i/x&token=a/b", "#next=https://i/x&token=REDACTED"),
        ("http://h/?a=https://i&password=p@x&b=c", "http://h/?a=https://REDACTED&b=c"),
        ("jdbc:s://db:14;user=sa;password=p@x;b=c", "jdbc:s://REDACTED"),
        // Regression: a name that was a text of its own.
        ("http://h/?access_token%3Dx&a=1", "http://h/?REDACTED&a=1"), ("?%7B%22token%22%3A%22x%22%7D", "?REDACTED"),
        ("?state=token=x&a=1", "?state=REDACTED&a=1"), ("?a%20b=c", "?a%20b=c"),
        ("http://\(String(repeating: "/u:p@", count: 40))h/", "http://\(String(repeating: "/", count: 40))h/"),
        ("http://h/?token=", "http://h/?token="), ("http://h/a?b=c&d=token", "http://h/a?b=c&d=token"),
        ("http://h/?mail=me@example.com", "http://h/?mail=me@example.com"), ("/a?b#c", "/a?b#c"),
    ])
    func `users and secret parameters are left out of URLs`(_ text: String, _ expected: String) {
        #expect(URLSecrets.redacted(text) == expected)
        #expect(URLSecrets.redacted(expected) == expected)
    }

    @Test(arguments: [
        ("a=b&password=x&c=d", "a=b&password=REDACTED&c=d"), ("pass%77ord=x", "pass%77ord=REDACTED"),
        ("a=b", "a=b"), ("payload=%7B%22token%22%3A%22x%22%7D", "payload=REDACTED"),
        ("a=1;token=x&b=2", "a=REDACTED&b=2"), ("token=x", "token=REDACTED"), ("token=", "token="),
        ("a=1&token%3Dx", "a=1&REDACTED"), ("%7B%22token%22%3A%22x%22%7D=", "REDACTED"), ("a%20b=c", "a%20b=c"),
    ])
    func `the values of secret fields are left out of forms`(_ text: String, _ expected: String) {
        let shown = FormSecrets.redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
        #expect(shown ?? text == expected)
        #expect(FormSecrets.redacted(Array(expected.utf8)) == nil)
    }

    @Test(arguments: [
        "Content-Disposition: form-data; name=\"password\"\r\n\r\nx",
        "content-disposition: form-data;name=token\r\n\r\nx",
        "Content-Disposition: form-data;\r\n name*=UTF-8''api%5Fkey\r\n\r\nx",
        "Content-Type: application/json\r\n\r\n{\"token\":\"x\"}",
        "Content-Type: application/x-www-form-urlencoded\r\n\r\na=b&password=x",
        "Content-Type: application/x-www-form-urlencoded\r\n\r\nnote=hello world&password=x",
        "Content-Type: text/plain\r\nContent-Transfer-Encoding: BASE64\r\n\r\neyJwYXNzd29yZCI6IngifQ==",
        "Content-Type: application/json\r\n\r\n{\0\"\0a\0\"\0:\0\"\0b\0\"\0}\0",
        "\r\n{\0\"\0a\0\"\0:\0\"\0b\0\"\0}\0",
        "Content-Type: font/ttf\r\n\r\n\0\0\r\n--b\r\n\r\n{\0\"\0a\0\"\0:\0\"\0b\0\"\0}\0",
        "Content-Type: text/plain\r\nContent-Type: text/plain; charset=UTF-16\r\n\r\na",
        // Regression: a line with a blank was not looked into.
        "Content-Type: application/http\r\n\r\nGET /me?access_token=x HTTP/1.1\r\n\r\n",
        "Content-Type: application/http\r\n\r\nGET / HTTP/1.1\r\nX-Api-Key: x\r\n\r\n",
        "Content-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\n\r\n",
        "\r\nsee https://u:x@h/", "Content-Transfer-Encoding:\r\n base64\r\n\r\neyJwYXNzd29yZCI6IngifQ==",
        "Content-Disposition: form-data; name=\"a\\\"password\"\r\n\r\nx",
        "Content-Disposition: form-data; name=\"\(String(repeating: "a", count: 300))password\"\r\n\r\nx",
    ])
    func `a multipart body with a secret part is left out as a whole`(_ part: String) {
        let body = Data(
            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b\r\n\(part)\r\n--b--\r\n".utf8)
        #expect(BodySecrets.verdict(on: body, [.contentType: "multipart/form-data; boundary=b"]) == .leftOut)
        for type in ["multipart/form-data boundary=b", "text/plain"] {
            #expect(BodySecrets.verdict(on: body, [.contentType: type]) == .leftOut)
        }
        #expect(BodySecrets.verdict(on: body, [:]) == .leftOut)
        let plain = Data(
            "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"token\"\r\n\r\n1\r\n--b--\r\n".utf8)
        #expect(BodySecrets.verdict(on: plain, [.contentType: "multipart/form-data; boundary=b"]) == .unchanged)
    }

    @Test(arguments: [
        "application/json", "application/problem+json; charset=utf-8", "application/x-ndjson", "text/event-stream",
        "text/plain", "", "APPLICATION/JSON", "application/x-amz-json-1.1",
    ])
    func `JSON is found by its type or by its start`(_ type: String) {
        let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        let expected = BodySecrets.Verdict.replaced(Array(#" {"token":"REDACTED"}"#.utf8))
        #expect(BodySecrets.verdict(on: Data(#" {"token":"x"}"#.utf8), fields) == expected)
        #expect(BodySecrets.verdict(on: Data(#" {"a":"x"}"#.utf8), fields) == .unchanged)
    }

    /// Regression: JSON was looked for at the start of a text, and in events only within quotes.
    @Test(arguments: [
        ("text/plain", #"40{"token":"x"}"#, #"40{"token":"REDACTED"}"#),
        ("text/javascript", #"for(;;);{"token" : "x"}"#, #"for(;;);{"token" : "REDACTED"}"#),
        ("application/javascript", #"cb({"token":"x"})"#, #"cb({"token":"REDACTED"})"#),
        ("text/html", #"<script>a = {"token":"x"}</script>"#, #"<script>a = {"token":"REDACTED"}</script>"#),
        ("text/event-stream", "data: https://a/?token=x\n\n", "data: https://a/?token=REDACTED\n\n"),
        ("text/event-stream", "data: password=x&a=1\r\ndata:b\n\n", "data: password=REDACTED&a=1\r\ndata:b\n\n"),
        ("text/event-stream", "data: Bearer x\n\n", "data: REDACTED\n\n"),
        ("application/json", #"{"body":"password=x&a=1"}"#, #"{"body":"password=REDACTED&a=1"}"#),
        ("application/json", #"{"url":"https%3A%2F%2Fa%2F%3Ftoken%3Dx"}"#, #"{"url":"REDACTED"}"#),
    ])
    func `secrets are found within other texts`(_ type: String, _ text: String, _ expected: String) {
        let fields: HTTPFields = [.contentType: type]
        #expect(BodySecrets.verdict(on: Data(text.utf8), fields) == .replaced(Array(expected.utf8)))
        #expect(BodySecrets.verdict(on: Data(expected.utf8), fields) == .unchanged)
    }

    /// Regression: each blank line before a NUL was read as the start of a part, 256 bytes four times.
    @Test func `the cost of a multipart body is that of its bytes`() {
        let fields: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]
        func work(_ text: String) -> Duration {
            let body = Data(String(repeating: text, count: 40_000 / text.utf8.count).utf8)
            return cost(rounds: 3) { #expect(BodySecrets.verdict(on: body, fields) == .unchanged) }
        }
        let plain = work("a\nb\nc\nd\n")
        for text in ["a\n\n\0\n", "--\n\n\0\n"] {
            let odd = work(text)
            #expect(odd < plain * 8, "\(odd) and \(plain)")
        }
    }

    @Test(arguments: [
        ("user=a&password=x", "user=a&password=REDACTED"), ("password=x", "password=REDACTED"), ("a=b", "a=b"),
        ("the password=x", "the password=x"), ("user=a&password=x\n", "user=a&password=REDACTED"),
        ("user=Ann Lee&password=x y", "user=Ann Lee&password=REDACTED"),
        ("user=Zoë&password=x&a=1", "user=Zoë&password=REDACTED&a=1"),
    ])
    func `a form is found without a type`(_ text: String, _ expected: String) {
        let verdict = BodySecrets.verdict(on: Data(text.utf8), [:])
        #expect(verdict == (text == expected ? .unchanged : .replaced(Array(expected.utf8))))
        #expect(BodySecrets.verdict(on: Data(text.utf8), [.contentType: "text/plain"]) == .unchanged)
    }

    @Test(arguments: [
        (
            #"Digest realm="secret", nonce="secret", opaque=secret, qop="auth,secret", algorithm=SHA-256, stale=TRUE"#,
            #"Digest realm="REDACTED", nonce="REDACTED", opaque="REDACTED", qop="auth", algorithm=SHA-256, stale=TRUE"#
        ),
        (#"Basic realm="secret", Bearer scope="secret""#, #"Basic realm="REDACTED", Bearer"#),
        ("Negotiate c2VjcmV0", "Negotiate"), ("Secret c2VjcmV0", "REDACTED"), ("", "REDACTED"),
    ])
    func `of a challenge the words of the protocol stay`(_ value: String, _ expected: String) {
        for name in [HTTPField.Name.wwwAuthenticate, .proxyAuthenticate] {
            #expect(FieldSecrets.redacted([name: value], hiding: [])?[name] == expected)
            #expect(FieldSecrets.redacted([name: expected], hiding: []) == nil)
            #expect(
                FieldSecrets.redacted([name: value], hiding: [name])?[name] ?? "" == (value.isEmpty ? "" : "REDACTED"))
        }
    }

    @Test func `a text in which nothing can be found is left out`() {
        let compressed = Data([0x1F, 0x8B, 8, 0, 1, 2])
        #expect(BodySecrets.verdict(on: compressed, [.contentType: "application/json"]) == .leftOut)
        #expect(BodySecrets.verdict(on: compressed, [.contentType: "image/png"]) == .unchanged)
        let brotli = Data([0x8B, 0x02, 0x80, 0xFF, 0xFE, 0x41, 0x42, 0x43])
        let fields: HTTPFields = [.contentType: "application/json", .contentEncoding: "br"]
        #expect(BodySecrets.verdict(on: brotli, fields) == .leftOut)
        // After decompression, the field is still there.
        #expect(BodySecrets.verdict(on: Data(#"{"a":1}"#.utf8), fields) == .unchanged)
    }

    /// Without a type of JSON, a text that is coded is no text that a scanner knows.
    @Test(arguments: ["text/plain", "", "application/octet-stream"])
    func `a coded text without a type of its own is left out`(_ type: String) {
        var fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        let wide = Data([0xFF, 0xFE]) + Data(#"{"token":"x"}"#.utf8.flatMap { [$0, 0] })
        #expect(BodySecrets.verdict(on: wide, fields) == .leftOut)
        fields[.contentEncoding] = "gzip"
        #expect(BodySecrets.verdict(on: Data([0x1F, 0x8B, 8, 0, 1, 2]), fields) == .leftOut)
        #expect(BodySecrets.verdict(on: Data("text".utf8), fields) == .unchanged)
        fields[.contentType] = "image/png"
        #expect(BodySecrets.verdict(on: Data([0x89, 0x50, 0x4E, 0x47, 0, 1]), fields) == .unchanged)
    }

    @Test(arguments: [2, 4], [true, false])
    func `a text in UTF-16 or UTF-32 is left out without a mark`(bytesOfUnit: Int, isBigEndian: Bool) {
        let text = "user=a&password=x".utf8.flatMap { unit -> [UInt8] in
            let bytes = [unit] + Array(repeating: 0, count: bytesOfUnit - 1)
            return isBigEndian ? bytes.reversed() : bytes
        }
        for type in ["", "text/plain", "application/octet-stream", "application/json"] {
            let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
            #expect(BodySecrets.verdict(on: Data(text), fields) == .leftOut, "\(type)")
        }
        let word = Data(text.prefix(bytesOfUnit))
        #expect(BodySecrets.verdict(on: word, [.contentType: "text/plain; charset=UTF-16LE"]) == .leftOut)
        #expect(BodySecrets.verdict(on: Data(text), [.contentType: "audio/wav"]) == .unchanged)
    }

    /// Regression: it counted as a form, and what followed the secret went with it.
    @Test(arguments: [
        (
            #"{"next":"https://h/x?a=1&token=abc","text":"hello world"}"#,
            #"{"next":"https://h/x?a=1&token=REDACTED","text":"hello world"}"#
        ),
        ("data:{\"u\":\"h?a=1&token=x\",\"b\":\"c d\"}\n\n", "data:{\"u\":\"h?a=1&token=REDACTED\",\"b\":\"c d\"}\n\n"),
    ])
    func `JSON and events without a type are no form`(_ text: String, _ expected: String) {
        #expect(BodySecrets.verdict(on: Data(text.utf8), [:]) == .replaced(Array(expected.utf8)))
    }

    /// Regression: eight bytes in any line of a part were enough, as fonts and tables of numbers have them.
    @Test(arguments: [
        "Content-Type: application/octet-stream\r\n\r\n\0\u{1}\0\0\0\u{C}\0\u{10}\0\u{3}\0\u{20}\0\0\0\u{4}",
        "Content-Type: font/ttf\r\n\r\n\0a\0b\0c\0d\0e\0f\0g\0h",
        "Content-Type: font/ttf\r\nContent-Type: text/plain\r\n\r\n\0a\0b\0c\0d\0e\0f\0g\0h",
    ])
    func `a binary part of a multipart body is kept`(_ part: String) {
        let body = Data("--b\r\n\(part)\n\r\n--b--\r\n".utf8)
        #expect(BodySecrets.verdict(on: body, [.contentType: "multipart/form-data; boundary=b"]) == .unchanged)
    }

    /// A file is not looked into, as the documentation says.
    @Test func `a compressed text is left out, and a compressed file is not`() {
        let compressed = Data([0x1F, 0x8B, 8, 0]) + Data("text".utf8)
        for type in ["", "text/plain", "application/json"] {
            let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
            #expect(BodySecrets.verdict(on: compressed, fields) == .leftOut, "\(type)")
        }
        for type in ["application/gzip", "application/octet-stream"] {
            #expect(BodySecrets.verdict(on: compressed, [.contentType: type]) == .unchanged)
        }
    }

    @Test func `applying the rule twice changes nothing more`() {
        let parts = [
            "http:", "https://", "//", "/", "@", ":", "?", "&", "#", ";", "=", "pwd", "token", "a", "h", "[", "]", ",",
            "%3A",
            "%26", "\"", "{", "}", " ",
        ]
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...14, using: &generator)).map { _ in
                parts.randomElement(using: &generator)!
            }.joined()
            let once = URLSecrets.redacted(text)
            #expect(URLSecrets.redacted(once) == once, "\(text)")
        }
    }

    @Test(arguments: [
        ("https://auth.example/login?client_id=a&b=c", "https://auth.example/login?client_id=a&b=c"),
        (
            "<https://h/?token=x>; rel=\"next\", <https://i/?a=b>",
            "<https://h/?token=REDACTED>; rel=\"next\", <https://i/?a=b>"
        ),
        ("https://h/tokens?page=2#token", "https://h/tokens?page=2#token"), ("password=x&a=b", "password=REDACTED&a=b"),
        ("https%3A%2F%2Fa%2F%3Ftoken%3Dx", "REDACTED"), ("a%20b", "a%20b"),
    ])
    func `a field has the rule of what it holds`(value: String, expected: String) {
        #expect((TextSecrets.redacted(value) ?? value) == expected)
        #expect(TextSecrets.redacted(expected) == nil)
    }

    /// Regression: three rules looked into the same bytes of each level.
    @Test func `the cost of texts within texts does not grow with each level`() {
        func nested(_ levels: Int) -> String {
            (0..<levels).reduce(String(repeating: "a", count: 20_000)) { text, _ in
                let escaped = text.replacing("\\", with: "\\\\").replacing("%", with: "\\u0025")
                return "&a=%22" + escaped.replacing("&", with: "\\u0026").replacing("\"", with: "\\\"") + "%22"
            }
        }
        let (one, eight) = (nested(1), nested(8))
        let plain = cost(rounds: 3) { _ = TextSecrets.redacted(one) }
        let deep = cost(rounds: 3) { _ = TextSecrets.redacted(eight) }
        #expect(deep < plain * 40, "\(deep) and \(plain)")
    }

    @Test func `applying the rule to a field twice changes nothing more`() {
        let parts = [
            "http:", "//", "/", "@", "?", "#", "&", ";", "=", "token", "a", "REDACTED", "eyJhbGciOiJIUzI1NiJ9.eyJ9.sig",
            ".", "%22", "%26", "\"", "\\", "\\\"", "{", "}", ":", " ", "Bearer ", "\"token\":", "\\u0022", "user:pw@",
            "x",
        ]
        let known = [#""?token=x\u0022:"token":"#, #""?a=1&token=x\u0022:"token":"y""#]
        var generator = SeededGenerator(seed: 7)
        for number in 0..<20_000 {
            let random = (0..<Int.random(in: 1...14, using: &generator)).map { _ in
                parts.randomElement(using: &generator)!
            }
            let text = number < known.count ? known[number] : random.joined()
            guard let once = TextSecrets.redacted(text) else { continue }
            let again = FieldSecrets.redacted([.server: once], hiding: [])
            #expect(again == nil, "\(text) -> \(once)")
        }
    }

    /// A recorded body is judged again when it is replayed, and must be the one that the next request has.
    @Test(arguments: ["application/x-www-form-urlencoded", "application/json", "text/plain", "text/event-stream", ""])
    func `applying the rule to a body twice changes nothing more`(_ type: String) {
        let parts = [
            "{", "}", "[", "]", ":", ",", "\"", "\"token\":\"", "\"a\":", "\"url\":\"http://h/?a=1\"", "&", "=",
            "token=", "a=", "id: ", "\n:",
            "p%26q", "http://u:p@h/", "\\", "\n", "data: ", "1", "x", "%7B", "+",
        ]
        let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        var generator = SeededGenerator(seed: 1)
        let known = [#"{"token":"p&q","url":"http://h/?a=1"}"#, "token=x&a={\"token\":\"x\"}", "a=b&{\"token=c\":1}"]
        for number in 0..<5_000 {
            let random = (0..<Int.random(in: 1...14, using: &generator)).map { _ in
                parts.randomElement(using: &generator)!
            }
            let text = number < known.count ? known[number] : random.joined()
            guard case .replaced(let once) = BodySecrets.verdict(on: Data(text.utf8), fields) else { continue }
            let again = BodySecrets.verdict(on: Data(once), fields)
            #expect(again == .unchanged, "\(text) -> \(String(decoding: once, as: UTF8.self))")
        }
    }

    @Test(arguments: [
        ("Bearer abc", "REDACTED"), ("see http://u:p@h/?token=x", "see http://h/?token=REDACTED"),
        ("no eyJhbGciOiJub25lIn0.e30. here", "no REDACTED here"), ("Not Found", "Not Found"),
    ])
    func `a reason phrase is recorded without secrets`(_ reason: String, _ expected: String) {
        var entry = Recording.Entry(request: .init(url: "http://h/"), response: .init(status: 404, reason: reason))
        entry.redactSecrets()
        #expect(entry.response?.reason == expected)
        #expect(entry.redacted == (reason == expected ? [] : [.reason]))
    }

    private static let payload = "eyJzdWIiOiIxMjM0NTY3ODkwIn0.SECRET-abc_123"

    @Test(arguments: [
        ("eyJhbGciOiJIUzI1NiJ9.\(payload)", true), ("eyAiYWxnIiA6ICJIUzI1NiIgfQ.\(payload)", true),
        ("ewogICJhbGciOiAiSFMyNTYiCn0.\(payload)", true), ("keyJwt.eyJhbGciOiJIUzI1NiJ9.\(payload)", true),
        ("id_eyJhbGciOiJIUzI1NiJ9.\(payload)", true), ("eyJhbGciOiJIUzI1NiJ9%2E\(payload)", true),
        ("x.eyJhbGciOiJIUzI1NiJ9.a.b.c.SECRET", true), ("e.e.e.eyJhbGciOiJIUzI1NiJ9.\(payload)", true),
        ("keyJoin.a.b", false), ("ewes.and.rams-in-the-field", false), ("eyelash.extensions.example.com", false),
        ("eyAiYiI6ICJub3RoaW5nIn0.aaa.bbb", false), ("eyJhbGciOiJIUzI1NiJ9.only", false), ("e", false), ("", false),
    ])
    func `a token is found wherever it begins`(_ token: String, _ isFound: Bool) throws {
        for (start, end) in [("", ""), ("id ", " end"), ("\"", "\""), ("https://h/?request=", "&a=1"), ("eye\n", "\n")]
        {
            let text = start + token + end
            let shown = TokenSecrets.redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
            #expect(shown.contains("SECRET") == false && (shown != text) == isFound, "\(shown)")
            #expect(shown.hasPrefix(start) && shown.hasSuffix(end))
            #expect(TokenSecrets.redacted(Array(shown.utf8)) == nil)
        }
        let request = Recording.Request(url: "http://h/?a=\(token.replacing("e", with: "%65"))")
        var entry = Recording.Entry(request: request)
        entry.redactSecrets()
        #expect(!isFound || !entry.request.url.contains("SECRET"))
    }

    @Test(arguments: [
        "Content-Type: application/http\r\n\r\nGET /me HTTP/1.1\r\nAuthorization: Bearer SECRET",
        "Content-Disposition: form-data; name=\"a\"\r\n\r\nBearer SECRET",
        "Content-Disposition: form-data; name=\"a\"\r\n\r\nhttps://user:SECRET@host/",
        "Content-Disposition: form-data; name=\"a\"\r\n\r\nhttps://host/?a=1&token=SECRET",
    ])
    func `a multipart body with a secret in any part is left out`(_ part: String) {
        let body = Data("--b\r\n\(part)\r\n--b--\r\n".utf8)
        #expect(BodySecrets.verdict(on: body, [.contentType: "multipart/mixed; boundary=b"]) == .leftOut)
    }

    @Test(arguments: ["\"Bearer SECRET\"", ")]}',\n{\"access_token\":\"SECRET\"}"])
    func `JSON is found by any start that it may have`(_ text: String) {
        for type in ["", "text/plain", "text/javascript"] {
            let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
            guard case .replaced(let shown) = BodySecrets.verdict(on: Data(text.utf8), fields) else {
                Issue.record("\(type): nothing was replaced")
                continue
            }
            #expect(!String(decoding: shown, as: UTF8.self).contains("SECRET"))
        }
    }

    private static let pieces = [
        "http:", "//", "/", "@", ":", "?", "#", "&", ";", "=", "token", "a", "%25", "%", "\"", "\\\"", "\\u0022", "{",
        "[", ",", " ", "\n", "eyJhbGciOiJIUzI1", "eyA", ".", "e", "-", "data:", "name=", "]", "1",
    ]

    /// Regression: a string of `http:http:…` took minutes, and a run of one pattern alone hides among all of them.
    @Test(arguments: pieces)
    func `no text takes more than in proportion to its length`(_ first: String) async throws {
        let scanners: [([UInt8]) -> Void] = [
            { _ = TextSecrets.redacted($0) }, { _ = FormSecrets.redacted($0) }, { _ = TokenSecrets.redacted($0) },
            { _ = FormSecrets.multipartHoldsSecret($0) }, { _ = JSONSecrets.redacted([UInt8(ascii: "\"")] + $0) },
            { _ = EventSecrets.redacted(Array("data:\"token\":[".utf8) + $0) },
        ]
        let length = 6_000
        let piece = "{\"a\":\"http://h/?a=b%20c\"},"
        let usual = Array(String(repeating: piece, count: length / piece.utf8.count).utf8)
        let most = scanners.map { scan in cost(rounds: 2) { scan(usual) } }.max() ?? .zero
        let place = try #require(Self.pieces.firstIndex(of: first))
        // A pair and its reverse, repeated, are the same but for their ends.
        for second in [""] + Self.pieces[place...] {
            // Lets tests that wait for a peer go on.
            await Task.yield()
            let unit = first + second
            let text = "#" + String(repeating: unit, count: length / unit.utf8.count)
            for end in ["", "@h"] {
                let bytes = Array((text + end).utf8)
                for scan in scanners {
                    #expect(!costsMore(than: most * 20) { scan(bytes) }, "\(unit)…\(end)")
                }
            }
        }
    }

    /// Regression: each type in a head was looked at once more for each further one.
    @Test func `the types in the head of a part cost in proportion to their number`() {
        func body(_ count: Int) -> [UInt8] { Array(String(repeating: "Content-Type: text/plain\n", count: count).utf8) }
        let (short, long) = (body(300), body(2_400))
        #expect(!FormSecrets.multipartHoldsSecret(short))
        // Quadratic, it would be 64 times.
        let limit = cost(rounds: 2) { _ = FormSecrets.multipartHoldsSecret(short) } * 24
        #expect(!costsMore(than: limit) { _ = FormSecrets.multipartHoldsSecret(long) })
    }

    /// Regression: after each blank line, 256 bytes were looked at as the start of a part.
    @Test func `blank lines in a row cost little more than one`() {
        func body(_ unit: String) -> [UInt8] { Array(String(repeating: unit, count: 1_000).utf8) }
        let (one, many) = (body("\n\n\0aaaaa"), body("\n\n\n\n\n\n\n\0"))
        #expect(!FormSecrets.multipartHoldsSecret(one) && !FormSecrets.multipartHoldsSecret(many))
        let most = cost(rounds: 3) { _ = FormSecrets.multipartHoldsSecret(one) }
        #expect(!costsMore(than: most * 3) { _ = FormSecrets.multipartHoldsSecret(many) })
    }

    /// Regression: trailers and reason phrases counted for nothing in the limits.
    @Test func `the size of an entry is that of all that a server sends`() throws {
        let (long, name) = (String(repeating: "x", count: 15_000), try #require(HTTPField.Name("X-Long")))
        let short = (0..<300).map { _ in HTTPField(name: name, value: "") }
        for response in [
            Recording.Response(status: 200, reason: long), Recording.Response(status: 200, trailers: [name: long]),
            Recording.Response(status: 200, headerFields: [name: long]),
            Recording.Response(status: 200, body: .init(Data(long.utf8), limit: 20_000)),
            Recording.Response(status: 200, headerFields: HTTPFields(short)),
        ] {
            #expect(Recording.Entry(request: .init(url: "http://h/"), response: response).approximateSize > 15_000)
        }
    }

    /// What a description never shows is not recorded either, whatever the field's name.
    @Test(arguments: ["Idempotency-Key", "Last-Event-ID", "X-Auth-Token", "X-Mine", "Cookie", "X-Other"])
    func `a field that no description shows is not recorded`(_ name: String) throws {
        let name = try #require(HTTPField.Name(name))
        let hidden = Set([try #require(HTTPField.Name("X-Mine"))])
        let field = HTTPField(name: name, value: "abc")
        let isShown = Redaction(secrets: hidden).value(of: field) == "abc"
        #expect(isShown == (name.canonicalName == "x-other"))
        #expect((FieldSecrets.redacted([name: "abc"], hiding: hidden) == nil) == isShown)
    }

    @Test func `texts within texts are looked into as far as the limit`() {
        for levels in 1...20 {
            var text = #"{"token":"CANARY"}"#
            for _ in 0..<levels where text.utf8.count < 200_000 {
                text = "{\"a\":\(String(decoding: JSONValue.string(text).line, as: UTF8.self))}"
            }
            let shown = JSONSecrets.redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
            #expect(!shown.contains("CANARY"), "\(levels)")
        }
    }

    @Test func `secret header fields are left out`() throws {
        let fields: HTTPFields = [
            .authorization: "Basic x", .cookie: "a=b", .accept: "*/*", HTTPField.Name("X-Mine")!: "secret",
            HTTPField.Name("X-Other")!: "Bearer abc", .location: "http://u:p@h/?token=x",
            .contentType: "text/plain; charset=utf-8",
        ]
        let shown = try #require(FieldSecrets.redacted(fields, hiding: [HTTPField.Name("X-Mine")!]))
        #expect(
            shown.lines.sorted() == [
                "Accept: */*", "Authorization: REDACTED", "Content-Type: text/plain; charset=utf-8", "Cookie: REDACTED",
                "Location: http://h/?token=REDACTED", "X-Mine: REDACTED", "X-Other: REDACTED",
            ])
        #expect(FieldSecrets.redacted(shown, hiding: [HTTPField.Name("X-Mine")!]) == nil)
    }
}
