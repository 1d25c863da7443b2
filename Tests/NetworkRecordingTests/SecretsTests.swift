import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkRecording

@Suite(.patience(minutes: 1))
struct SecretsTests {
    private func expect(_ text: String, _ expected: String, as type: String) {
        let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        let verdict = BodySecrets.verdict(on: Data(text.utf8), fields)
        #expect(verdict == (text == expected ? .unchanged : .replaced(Array(expected.utf8))), "\(text)")
        #expect(BodySecrets.verdict(on: Data(expected.utf8), fields) == .unchanged, "\(expected)")
    }

    // MARK: Values

    @Test(arguments: [
        ("http://h/?token=x&a=1", "http://h/?token=REDACTED&a=1"),
        ("http://h/?a=1&API_KEY=x;y#f", "http://h/?a=1&API_KEY=REDACTED#f"),
        ("http://h/?%74oken=x", "http://h/?%74oken=REDACTED"),
        ("http://h/?%2574oken=x", "http://h/?%2574oken=REDACTED"),
        ("http://u:p@h/a", "http://h/a"), ("//u:p@h/a", "//h/a"), ("https://u@h/@user", "https://h/@user"),
        ("http://h/;jsessionid=x/b?c=d", "http://h/;jsessionid=REDACTED/b?c=d"),
        ("http://h/#access_token=x&state=1", "http://h/#access_token=REDACTED&state=1"),
        ("http://h/?next=https%3A%2F%2Fi%2F%3Ftoken%3Dx&a=1", "http://h/?next=REDACTED&a=1"),
        ("http://h/?next=https://i/?token=x", "http://h/?next=https://i/?token=REDACTED"),
        ("http://h/?a=%7B%22token%22%3A%22x%22%7D", "http://h/?a=%7B%22token%22%3A%22x%22%7D"),
        (
            "<https://h/?token=x>; rel=\"next\", <https://h/?a=1>",
            "<https://h/?token=REDACTED>; rel=\"next\", <https://h/?a=1>"
        ),
        ("0; url=https://u:p@h/?token=x", "0; url=https://h/?token=REDACTED"),
        // Regression: a URL in a query ended it, or took a secret's name for a part of its user.
        ("http://h/?next=https://i/x&token=a/b", "http://h/?next=https://i/x&token=REDACTED"),
        ("http://h/?a=http:&token=a,b", "http://h/?a=http:&token=REDACTED"),
        ("http://h/?a=https://i&password=p@x&b=c", "http://h/?a=https://i&password=REDACTED&b=c"),
        ("jdbc:s://db:14;user=sa;password=p@x;b=c", "jdbc:s://REDACTED"),
        ("a=1; token=x/y==; b=2", "a=1; token=REDACTED; b=2"), ("a=b,token=\"x y\"", "a=b,token=REDACTED"),
        ("token=x", "token=REDACTED"), ("http://h/?token=", "http://h/?token="),
        ("http://h/?mail=me@example.com", "http://h/?mail=me@example.com"), ("/a?b#c", "/a?b#c"),
        ("https://auth.example/login?client_id=a&b=c", "https://auth.example/login?client_id=a&b=c"),
        ("Bearer abc", "REDACTED"), ("Not Found", "Not Found"),
        ("see http://u:p@h/?token=x", "see http://h/?token=REDACTED"),
        ("eyJhbGciOiJub25lIn0.e30.", "REDACTED"), ("eyJhbGciOiJub25lIn0.e30", "eyJhbGciOiJub25lIn0.e30"),
        (#"{"token":"x","a":"http://u@h/"}"#, #"{"token":"REDACTED","a":"http://h/"}"#), ("[DONE]", "[DONE]"),
    ])
    func `secrets are left out of a value`(_ text: String, _ expected: String) {
        #expect((TextSecrets.redacted(text) ?? text) == expected)
        #expect(TextSecrets.redacted(expected) == nil)
    }

    @Test func `secret header fields are left out`() throws {
        let mine = try #require(HTTPField.Name("X-Mine"))
        let fields: HTTPFields = [
            .authorization: "Basic x", .cookie: "a=b", .accept: "*/*", mine: "secret",
            HTTPField.Name("X-Other")!: "Bearer abc", .location: "http://u:p@h/?token=x",
            .contentType: "text/plain; charset=utf-8",
        ]
        let shown = try #require(FieldSecrets.redacted(fields, hiding: [mine]))
        #expect(
            shown.lines.sorted() == [
                "Accept: */*", "Authorization: REDACTED", "Content-Type: text/plain; charset=utf-8", "Cookie: REDACTED",
                "Location: http://h/?token=REDACTED", "X-Mine: REDACTED", "X-Other: REDACTED",
            ])
        #expect(FieldSecrets.redacted(shown, hiding: [mine]) == nil)
    }

    /// What a description never shows is not recorded either, whatever the field's name.
    @Test(arguments: ["Idempotency-Key", "Last-Event-ID", "X-Auth-Token", "X-Mine", "Cookie", "X-Other"])
    func `a field that no description shows is not recorded`(_ name: String) throws {
        let name = try #require(HTTPField.Name(name))
        let hidden = Set([try #require(HTTPField.Name("X-Mine"))])
        let isShown = Redaction(secrets: hidden).value(of: HTTPField(name: name, value: "abc")) == "abc"
        #expect(isShown == (name.canonicalName == "x-other"))
        #expect((FieldSecrets.redacted([name: "abc"], hiding: hidden) == nil) == isShown)
    }

    @Test(arguments: [
        (
            #"Digest realm="secret", nonce="secret", opaque=secret, qop="auth,secret", algorithm=SHA-256, stale=TRUE"#,
            #"Digest realm="REDACTED", nonce="REDACTED", opaque="REDACTED", qop="auth", algorithm="SHA-256", stale="TRUE""#
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

    @Test(arguments: ["Bearer abc", "Not Found"])
    func `a reason phrase is recorded without secrets`(_ reason: String) {
        var entry = Recording.Entry(request: .init(url: "http://h/"), response: .init(status: 404, reason: reason))
        entry.redactSecrets()
        #expect(entry.response?.reason == (reason == "Not Found" ? reason : "REDACTED"))
        #expect(entry.redacted == (reason == "Not Found" ? [] : [.reason]))
    }

    // MARK: Bodies

    @Test(arguments: [
        (#"{"password": "x"}"#, #"{"password": "REDACTED"}"#),
        (#"{"a":1,"accessToken":"x","b":2}"#, #"{"a":1,"accessToken":"REDACTED","b":2}"#),
        (#"{ "pin" : 1234 , "b":[1]}"#, #"{ "pin" : 0 , "b":[1]}"#),
        (#"{"token":null}"#, #"{"token":null}"#), (#"{"hasPassword":true}"#, #"{"hasPassword":true}"#),
        (#"{"prompt_tokens":-1.5e3}"#, #"{"prompt_tokens":0}"#),
        (#"{"token":{"a":["}",{"b":"]"}]},"c":1}"#, #"{"token":{},"c":1}"#),
        (#"{"secrets":["a","b"]}"#, #"{"secrets":[]}"#),
        (#"{"a":{"b":[{"API_KEY":"x"}]}}"#, #"{"a":{"b":[{"API_KEY":"REDACTED"}]}}"#),
        (#"{"password":"a\"b\\","c":"d"}"#, #"{"password":"REDACTED","c":"d"}"#),
        (#"{"\u0070assword":"x"}"#, #"{"\u0070assword":"REDACTED"}"#),
        (#"{"author":"x","name":"password"}"#, #"{"author":"x","name":"password"}"#),
        (#"["password","x"]"#, #"["password","x"]"#),
        (#"{"headers":[["Authorization","Bearer x"]],"a":1}"#, #"{"headers":[["Authorization","REDACTED"]],"a":1}"#),
        ("{\"token\"\n:\t\"x\"}", "{\"token\"\n:\t\"REDACTED\"}"), (#"{"password":""}"#, #"{"password":"REDACTED"}"#),
        (#"{"next":"https:\/\/u:p@h\/?a=1\u0026token=x"}"#, #"{"next":"https://h/?a=1&token=REDACTED"}"#),
        (#"{"said":"\u0042asic dTpw"}"#, #"{"said":"REDACTED"}"#),
        (#"{"body":"password=x&a=1"}"#, #"{"body":"password=REDACTED&a=1"}"#),
        (#"{"OAuth Token":"x","a":1}"#, #"{"OAuth Token":"REDACTED","a":1}"#),
        (
            "{\"token\":\"a\"}\n{\"b\":\"c\"}\r\n\u{1E}{\"token\":\"d\"}\n",
            "{\"token\":\"REDACTED\"}\n{\"b\":\"c\"}\r\n\u{1E}{\"token\":\"REDACTED\"}\n"
        ),
        ("\u{FEFF}{\"token\":\"a\"}", "\u{FEFF}{\"token\":\"REDACTED\"}"), ("12", "12"),
        // Texts that were cut.
        (#"{"password":"hun"#, #"{"password":"REDACTED""#), (#"{"password":"#, #"{"password":"#),
        (#"{"password""#, #"{"password""#), (#"{"password":{"a":"hun"#, #"{"password":{}"#),
        (#"{"password":"hun\"#, #"{"password":"REDACTED""#), (#"{"a":tr"#, #"{"a":tr"#),
        (#"{"a":"Bearer x"#, #"{"a":"REDACTED""#),
    ])
    func `the value of a secret member is replaced`(_ text: String, _ expected: String) {
        expect(text, expected, as: "application/json")
        if text.first == "{" || text.first == "[" {
            for type in ["", "text/plain"] { expect(text, expected, as: type) }
        }
    }

    @Test(arguments: [
        "application/json", "application/problem+json; charset=utf-8", "application/x-ndjson", "text/plain", "",
        "APPLICATION/JSON", "application/x-amz-json-1.1", "text/javascript",
    ])
    func `JSON is found by its type or by its start`(_ type: String) {
        expect(#" {"token":"x"}"#, #" {"token":"REDACTED"}"#, as: type)
        expect(#" {"a":"x"}"#, #" {"a":"x"}"#, as: type)
    }

    @Test(arguments: [
        ("a=b&password=x&c=d", "a=b&password=REDACTED&c=d"), ("pass%77ord=x", "pass%77ord=REDACTED"), ("a=b", "a=b"),
        ("payload=%7B%22token%22%3A%22x%22%7D", "payload=REDACTED"), ("a=1;token=x&b=2", "a=REDACTED&b=2"),
        ("token=", "token="), ("a=Bearer+x", "a=REDACTED"),
        ("user=Ann Lee&password=x y", "user=Ann Lee&password=REDACTED"),
        ("user=Zoë&password=x&a=1\n", "user=Zoë&password=REDACTED&a=1\n"),
        ("a=http%3A%2F%2Fu%3Ap%40h%2F", "a=REDACTED"),
    ])
    func `the values of secret fields are left out of forms`(_ text: String, _ expected: String) {
        expect(text, expected, as: "application/x-www-form-urlencoded")
    }

    @Test(arguments: [
        ("event: a\ndata: {\"token\":\ndata: \"x\"}\n\n", "event: a\ndata: {\"token\":\ndata: \"REDACTED\"}\n\n"),
        (": it's \"quoted\ndata: {\"token\":\"x\"}\n\n", ": it's \"quoted\ndata: {\"token\":\"REDACTED\"}\n\n"),
        (
            "data: {\"token\":\"x\"}\r\n\r\ndata: {\"a\":\"b\"}",
            "data: {\"token\":\"REDACTED\"}\r\n\r\ndata: {\"a\":\"b\"}"
        ),
        (
            "data:{\"token\":{\"a\":\nid: 7\ndata:1},\ndata: \"c\":2}\n",
            "data: {\"token\":{},\ndata: \"c\":2}\nid: 7\n"
        ),
        ("data: https://a/?token=x\n\n", "data: https://a/?token=REDACTED\n\n"), ("data: Bearer x", "data: REDACTED"),
        ("data: {\"a\":1}\r\rdata: [DONE]\r\r", "data: {\"a\":1}\r\rdata: [DONE]\r\r"),
        ("data: {\"token\":\"x", "data: {\"token\":\"REDACTED\""),
    ])
    func `the data of an event is one text, whatever is between its lines`(_ text: String, _ expected: String) {
        expect(text, expected, as: "text/event-stream")
    }

    private static let gzip = Data([0x1F, 0x8B, 8, 0, 1, 2])

    private static let unstructured: [(String, Data)] = [
        ("text/plain", Data("password=x".utf8)), ("text/html", Data("<p>x".utf8)), ("", Data("password=x".utf8)),
        ("application/xml", Data("<a/>".utf8)), ("application/javascript", Data(#"cb({"token":"x"})"#.utf8)),
        ("multipart/form-data; boundary=b", Data("--b\r\n".utf8)), ("image/png", Data([0x89, 0x50])),
        ("application/octet-stream", Data([0])), ("application/jwt", Data("eyJ.e30.".utf8)),
        // These have another form than their type says.
        ("application/json", gzip), ("application/x-www-form-urlencoded", gzip), ("text/event-stream", gzip),
        ("application/json", Data(")]}',\n{\"token\":\"x\"}".utf8)), ("application/json", Data("{\"a\":\"\n\"}".utf8)),
        ("application/json", Data(#"{"token":"x"}"#.utf8.flatMap { [$0, 0] })),
        ("application/json", Data("{'a':'b'}".utf8)),
        ("application/json", Data(#"{"a":"\x"}"#.utf8)),
        ("text/event-stream", Data("data: x{\"token\":\"x\"}\n\n".utf8)),
        ("application/x-www-form-urlencoded", Data([0x61, 0x3D, 0xFF, 0x61, 0x61, 0x61, 0x61])),
    ]

    @Test(arguments: unstructured)
    func `a body without a structure is left out unless it is asked for`(_ type: String, _ bytes: Data) {
        let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        let entry = Recording.Entry(
            request: .init(url: "http://h/", headerFields: fields, body: .init(bytes)),
            response: .init(status: 200, headerFields: fields, body: .init(bytes)))
        var (shown, whole) = (entry, entry)
        shown.redactSecrets()
        #expect(shown.request.body == .init(omitted: bytes.count))
        #expect(shown.response?.body == .init(omitted: bytes.count))
        #expect(shown.redacted == [.requestBody, .responseBody])
        whole.redactSecrets(bodies: .all)
        #expect(whole.request.body == .init(bytes) && whole.response?.body == .init(bytes) && whole.redacted == [])
    }

    // MARK: Any text

    private static let pieces = [
        "http:", "//", "/", "@", ":", "?", "#", "&", ";", "=", "token", "a", "h", ",", "%3A", "%26", "%25", "%", "\"",
        "\\", "\\\"", "{", "}", "[", "]", " ", "\n", "\r", "REDACTED", "eyJhbGciOiJIUzI1NiJ9.eyJ9.sig", ".", "Bearer ",
        "\"token\":", "\"a\":", "token=", "a=", "user:pw@", "data: ", "id: ", "1", "+", "\\u0022",
    ]

    /// A recorded value is judged again when it is replayed, and must be the one that the next request has.
    @Test func `applying the rule to a value twice changes nothing more`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let text = generator.text(of: Self.pieces, upTo: 14)
            guard let once = TextSecrets.redacted(text) else { continue }
            #expect(TextSecrets.redacted(once) == nil, "\(text) -> \(once) -> \(TextSecrets.redacted(once) ?? "")")
        }
    }

    @Test(arguments: ["application/x-www-form-urlencoded", "application/json", "text/plain", "text/event-stream", ""])
    func `applying the rule to a body twice changes nothing more`(_ type: String) {
        let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<5_000 {
            let text = generator.text(of: Self.pieces, upTo: 14)
            guard case .replaced(let once) = BodySecrets.verdict(on: Data(text.utf8), fields) else { continue }
            let again = BodySecrets.verdict(on: Data(once), fields)
            #expect(again == .unchanged, "\(text) -> \(String(decoding: once, as: UTF8.self))")
        }
    }

    @Test(arguments: 0..<100)
    func `all other bytes of JSON stay as they are, and nothing of a secret is left`(_ seed: UInt64) throws {
        var source = JSONSource(seed)
        source.value(depth: 0)
        let verdict = JSONSecrets.verdict(on: Array(source.text.utf8))
        #expect(verdict == (source.text == source.expected ? .unchanged : .replaced(Array(source.expected.utf8))))
        let bytes = Array(source.text.utf8)
        let cut = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &source.generator)))
        guard case .replaced(let shown) = JSONSecrets.verdict(on: cut) else { return }
        #expect(!String(decoding: shown, as: UTF8.self).contains("CANAR"))
    }

    /// Regression: a string of `http:http:…` took minutes.
    @Test func `no text takes more than in proportion to its length`() {
        func texts(_ length: Int) -> [[UInt8]] {
            Self.pieces.flatMap { first in
                ["", "="].map { second in
                    let unit = first + second
                    return Array(("?" + String(repeating: unit, count: length / unit.utf8.count) + "@h").utf8)
                }
            }
        }
        func scan(_ texts: [[UInt8]]) {
            for text in texts {
                _ = TextSecrets.redacted(text)
                for type in ["application/json", "application/x-www-form-urlencoded", "text/event-stream"] {
                    _ = BodySecrets.verdict(on: Data("[\"".utf8 + text), [.contentType: type])
                }
            }
        }
        let (small, large) = (texts(100), texts(800))
        // Quadratic, it would be 64 times.
        let limit = cost(rounds: 2) { scan(small) } * 24
        #expect(!costsMore(than: limit) { scan(large) })
    }
}
