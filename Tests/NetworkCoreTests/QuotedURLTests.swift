import TestSupport
import Testing

@testable import NetworkCore

/// libcurl quotes a proxy from the environment as written there, which is not always a URL.
@Suite("The password of a URL that a library quotes")
struct QuotedURLTests {
    static let sentences = [
        "Uses proxy env variable http_proxy == 'http://user:{}@proxy:3128'",
        "Uses proxy env variable all_proxy == 'socks5h://{}:{}@proxy'",
        "Unsupported proxy syntax in 'user:{}@proxy:1'",
        "Unsupported proxy syntax in 'user:{}@proxy': Port number was not a decimal number between 0 and 65535",
        "Unsupported proxy syntax in \"a {}@proxy\" (1)",
        "Could not resolve proxy: http://user:{}@proxy:1", "no way to user:x{}@proxy:1 and back",
        "http://user:{}@127.0.0.1:9", "//user:{}@[::1]:9/p", "HTTP:user:{}@h", "'{}@h'",
    ]
    private static let secrets = ["Qz1vKw", "4711", "87654321", "Wk2zQv"]
    private static let pieces =
        secrets + [
            " ", "#", "?", "/", "'", "\"", ":", "@", "\\", ";", "&", "=", ".", ",", "(", "[", "%20", "ü", "\u{301}",
            "\t", "\n", "//", "http://", "'http://", " token: ", "key=",
        ]

    @Test(arguments: sentences)
    func `no password is shown, whatever its characters`(sentence: String) {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            let password = random.text(of: Self.pieces, upTo: 6)
            let text = sentence.replacing("{}", with: password)
            var error = NetworkError(.proxyFailed, text)
            error.underlying = .init(domain: "libcurl", code: 5, message: text)
            let printed = [
                "text": Redaction().text(text), "error": "\(error)",
                "log": Redaction().lines(of: text + "\n", "*").joined(separator: "\n"),
            ]
            for (printer, shown) in printed {
                guard !Self.secrets.contains(where: { password.contains($0) && shown.contains($0) }) else {
                    Issue.record("\(printer) of \(text.debugDescription) shows \(shown.debugDescription)")
                    return
                }
            }
            let once = Redaction().text(text)
            #expect(Redaction().text(once) == once)
        }
    }

    @Test(arguments: sentences)
    func `no password is shown in a text whose end is too long to scan`(sentence: String) {
        for (filler, count) in [(" x", 1500), ("x", 3000), ("/", 3000), ("/ ", 33_000)] {
            let password = "4711 Qz1vKw" + String(repeating: filler, count: count)
            let text = sentence.replacing("{}", with: password)
            let shown = Redaction().text(text)
            #expect(!shown.contains("4711") && !shown.contains("Qz1"), "\(sentence): \(shown.prefix(200))")
        }
    }

    @Test(arguments: sentences)
    func `no password is shown in a text that the library has cut before the @`(sentence: String) throws {
        let start = try #require(
            sentence.replacing("{}", with: "4711 Qz1vKw").utf8.split(separator: UInt8(ascii: "@")).first)
        let words = Redaction().text(String(decoding: start, as: UTF8.self), wasCut: true)
        #expect(!words.contains("4711") && !words.contains("Qz1"), "\(words)")
        let long = String(decoding: start, as: UTF8.self) + String(repeating: " x", count: 1000)
        let lines = Redaction().lines(of: String(long.prefix(2047)), "*").joined()
        #expect(!lines.contains("4711") && !lines.contains("Qz1"), "\(lines)")
    }

    @Test
    func `digits are no port if they exceed 65535 or if an @ follows after a query or a fragment`() {
        var random = SeededGenerator(seed: 12)
        for url in ["http://user:{}@proxy:3128", "user:{}@proxy:3128", "//user:{}@h/", "socks5://{}:{}@h"] {
            for _ in 0..<300 {
                let password = random.text(of: Self.secrets + ["#", "?", " ", ":", "@", "'", ".", ";"], upTo: 5)
                let shown = Redaction().url(url.replacing("{}", with: password))
                guard !Self.secrets.contains(where: { password.contains($0) && shown.contains($0) }) else {
                    Issue.record("\(url) with \(password.debugDescription): \(shown.debugDescription)")
                    return
                }
            }
        }
        for (url, expected) in [
            ("http://user:12345678#x@proxy:3128", "http://…#…"), ("http://user:4711?x@proxy:3128", "http://…?…"),
            ("http://user:87654321", "http://…"), ("http://user:65536/x", "http://…"),
            ("http://h:65535/", "http://h:65535/"),
            ("http://h:80?q", "http://h:80?…"), ("http://h:80/p?mail=a@b", "http://h:80/p?…"),
            ("http://h:", "http://h:"),
        ] { #expect(Redaction().url(url) == expected) }
    }

    @Test(arguments: [
        ("Uses proxy env variable http_proxy == 'http://u:first hunter2@h:1'", "== '…"),
        ("Unsupported proxy syntax in 'u:a b@h': no port", "Unsupported proxy syntax in '…"),
        ("Uses proxy env variable http_proxy == 'http://u:a#b@h:1'", "http_proxy == '…"),
        ("Could not resolve host: h.example", "Could not resolve host: h.example"),
        (
            "Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect",
            "port 9 after 0 ms: Couldn't connect"
        ),
        ("subject: CN=h; emailAddress=a@b.example", "subject: CN=h; emailAddress=a@b.example"),
        ("to 'http://h/p?token=one@two three", "to '…"),
    ])
    func `text other than users and passwords is shown`(text: String, expected: String) {
        #expect(Redaction().text(text).hasSuffix(expected))
    }
}
