import TestSupport
import Testing

@testable import NetworkCore

@Suite("URLs in one pass")
struct PlainURLTests {
    @Test(arguments: [
        "http://127.0.0.1:3000/test", "https://api.example.com/v1/users?page=2&sort=name", "http://h", "http://h?",
        "http://h/?a=/b/../c", "http://xn--bcher-kva.example/~u/;v=1", "http://a.b.c.d.e:1/", "http://1a.example/",
        "http://web10:65535/x", "http://h/a.b/c..d",
    ])
    func `a plain URL is read as by the parser`(text: String) throws {
        var parser = RequestURLParser(text)
        #expect(try parts(#require(PlainURL.parse(text))) == parts(parser.parse().url))
    }

    @Test(arguments: [
        "", "http:/", "http://", "ftp://h/", "HTTP://h/", "http://H/", "http://h:", "http://h:0/", "http://h:080/",
        "http://h:65536/",
        "http://h:123456/", "http://h.", "http://h..a/", "http://.h/", "http://0x7f.1/", "http://0x7f/",
        "http://127.1/",
        "http://1.2.3.256/", "http://01.2.3.4/", "http://1.2.3.04/", "http://1.2.3.4.5/", "http://[::1]/",
        "http://u@h/",
        "http://h/a b", "http://h/%41", "http://h/./a", "http://h/a/..", "http://h/#f", "http://h/?#", "http://h\\a",
        "http://h/\u{0}", "http://h\u{0}", "http://h/é", "http://h/[", "http://a_b/",
        "http://\(String(repeating: "a", count: 64))/",
        "http://\(Array(repeating: "abcdefg", count: 32).joined(separator: "."))/",
    ])
    func `anything else is left to the parser`(text: String) { #expect(PlainURL.parse(text) == nil) }

    @Test func `URLs read without the parser are read the same by it`() {
        var random = SeededGenerator(seed: 11)
        let pieces = [
            "http://", "https://", "http:", "h", "a-b", "0", "1", "01", "256", "255", "x", "0x", ".", ".", "..", ":",
            ":80", "/", "/",
            "?", "#", "%", "%2e", "@", "[", "A", "~", "é", "\u{0}", " ", "a=b&c", "127.0.0.1",
        ]
        var read = 0
        for _ in 0..<200_000 {
            let text =
                "http://"
                + (0..<Int.random(in: 0...7, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                .joined()
            guard let plain = PlainURL.parse(text) else { continue }
            read += 1
            var parser = RequestURLParser(text)
            let parsed = try? parser.parse().url
            if parsed.map(parts) != parts(plain) {
                Issue.record("\(text): \(plain.absoluteString), and \(parsed?.absoluteString ?? "an error")")
            }
        }
        #expect(read > 5_000)
    }

    /// Returns all parts of a URL, its text, and the text that results from the parts.
    private func parts(_ url: RequestURL) -> [String?] {
        let query = url.query.map { "?" + $0 } ?? ""
        return [
            url.scheme, url.host, url.port.map { String($0) }, url.path, url.query, url.absoluteString,
            "\(url.scheme)://\(url.authority)\(url.path)\(query)",
        ]
    }
}
