import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct RequestURLTests {
    @Test(
        arguments: [
            ("http://127.0.0.1:3000/test", "http://127.0.0.1:3000/test"),
            ("http://example.com", "http://example.com/"),
            ("http://example.com?a=1", "http://example.com/?a=1"),
            ("HTTP://Example.COM/Path", "http://example.com/Path"),
            ("https://example.com:443/", "https://example.com:443/"),
            ("http://example.com:/x", "http://example.com/x"),
            ("http://example.com./x", "http://example.com./x"),
            ("http://a-b_c.example/~u", "http://a-b_c.example/~u"),
            ("http://h/a b", "http://h/a%20b"),
            ("http://h/a%20b?q=%2F", "http://h/a%20b?q=%2F"),
            ("http://h/né?q=日本", "http://h/n%C3%A9?q=%E6%97%A5%E6%9C%AC"),
            ("http://h/\u{1F600}", "http://h/%F0%9F%98%80"),
            ("http://h/a?b=c?d=e", "http://h/a?b=c?d=e"),
            ("http://h/a?tags[]=1|2", "http://h/a?tags%5B%5D=1%7C2"),
            ("http://h/\"<>^`{}", "http://h/%22%3C%3E%5E%60%7B%7D"),
            ("http://h/a#fragment", "http://h/a"),
            ("http://h/a?b#c?d", "http://h/a?b"),
            ("http://h/a/./b/../c", "http://h/a/c"),
            ("http://h/../../x", "http://h/x"),
            ("http://h/a/..", "http://h/"),
            ("http://h/a/.", "http://h/a/"),
            ("http://h//a//b", "http://h//a//b"),
            ("http://h/.hidden/...", "http://h/.hidden/..."),
            ("http://h/?", "http://h/?"),
            ("http://192.168.0.1/", "http://192.168.0.1/"),
            ("http://[::1]:8080/x", "http://[::1]:8080/x"),
            ("http://[2001:DB8::A]/", "http://[2001:db8::a]/"),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
            ("http://1.2.3.4.example/", "http://1.2.3.4.example/"),
        ]
    )
    func `a good URL is written in one form`(input: String, output: String) throws {
        #expect(try RequestURL(input).absoluteString == output)
    }

    @Test(
        arguments: [
            ("", "empty"),
            ("/test", "no scheme"),
            ("127.0.0.1:3000/test", "no scheme"),
            ("example.com", "no scheme"),
            ("://example.com", "no scheme"),
            (" http://example.com", "no scheme"),
            ("ftp://example.com/", "'ftp'"),
            ("file:///etc/passwd", "'file'"),
            ("javascript:alert(1)", "'javascript'"),
            ("http:/example.com", "'//' is missing"),
            ("http:example.com", "'//' is missing"),
            ("http://", "host is missing"),
            ("http:///path", "host is missing"),
            ("http://:80/", "host is missing"),
            ("http://user:secret@example.com/", "user and password"),
            ("http://example.com@evil.example/", "user and password"),
            ("http://ex ample.com/", "in the host"),
            ("http://exa%6Dple.com/", "in the host"),
            ("http://-bücher.example/", "hyphens"),
            ("http://a..b/", "empty label"),
            ("http://.a/", "empty label"),
            ("http://./", "empty label"),
            ("http://h:0/", "port"),
            ("http://h:65536/", "port"),
            ("http://h:80a/", "port"),
            ("http://h:-1/", "port"),
            ("http://h:99999999999999999999/", "port"),
            ("http://h\\@evil.example/", "'\\'"),
            ("http://h/a\\b", "'\\'"),
            ("http://h/a\r\nX: y", "control character 0xD"),
            ("http://h/a\nb", "control character 0xA"),
            ("http://h/a\u{0}b", "control character 0x0"),
            ("http://h/\u{7F}", "control character 0x7F"),
            ("http://h/%", "'%'"),
            ("http://h/%2", "'%'"),
            ("http://h/%zz", "'%'"),
            ("http://h/?100%", "'%'"),
            ("http://0x7f.1/", "looks like a number"),
            ("http://0x7f000001/", "looks like a number"),
            ("http://127.1/", "looks like a number"),
            ("http://2130706433/", "looks like a number"),
            ("http://127.0.0.01/", "looks like a number"),
            ("http://127.0.0.256/", "looks like a number"),
            ("http://127.0.0.1./", "looks like a number"),
            ("http://[::1/", "']' is missing"),
            ("http://[::1]x/", "':' and a port"),
            ("http://[fe80::1%25eth0]/", "zones"),
            ("http://[zz]/", "not an IPv6 address"),
            ("http://[127.0.0.1]/", "not an IPv6 address"),
        ]
    )
    func `a bad URL is refused with its reason`(input: String, reason: String) throws {
        let error = try #require(throws: NetworkError.self) { try RequestURL(input) }
        #expect(error.code == .invalidURL)
        #expect(error.phase == .preparing)
        #expect(error.message.contains(reason), "\(error)")
    }

    @Test func `long parts are refused`() {
        let label = String(repeating: "a", count: 64)
        let host = Array(repeating: String(repeating: "a", count: 60), count: 5).joined(separator: ".")
        for url in ["http://\(label)/", "http://\(host)/", "http://h/" + String(repeating: "a", count: 65_536)] {
            expectFailure(.invalidURL) { try RequestURL(url) }
        }
    }

    /// Regression: the limit counted the text as written, and not the URL that resulted from it.
    @Test func `the limit is that of the URL that is sent`() throws {
        let letters = { (count: Int) in String(repeating: "a", count: count) }
        let long = String(repeating: "é", count: 30_000)
        let most = RequestURL.maximumBytes
        let base = try RequestURL("http://h/")
        for make in [
            { try RequestURL("http://h/\(long)") }, { try RequestURL("http://h/?\(long)") },
            { try RequestURL(base: "http://h/", path: long) }, { try RequestURL(base: "http://h/", path: "?\(long)") },
            { try RequestURL(base: "http://h/a?\(letters(40_000))", path: "b?\(letters(30_000))") },
            { try base.resolving(long) }, { try base.resolving("?\(long)") }, { try base.resolving("//h/\(long)") },
            { try RequestURL("http://h/\(letters(most - 9))/").resolving("b") },
            { try RequestData(path: "http://h/", parameters: ["q": letters(most)]).transportRequest().url },
            { try RequestData(path: "http://h/", parameters: ["q": "\(long)"]).transportRequest().url },
            {
                try RequestData(path: "http://h/?\(letters(40_000))", parameters: ["q": letters(30_000)])
                    .transportRequest()
                    .url
            },
            { try RequestData(path: "http://u:p@h/\(long)").transportRequest().url },
        ] as [() throws -> RequestURL] {
            expectFailure(.invalidURL) { try make() }
        }
        for count in [most - 1, most, most + 1] {
            for make in [
                { try RequestURL("http://h/\(letters(count - 9))") },
                { try RequestURL("http://h/%7E\(letters(count - 12))") },
                { try RequestURL(base: "http://h/", path: letters(count - 9)) },
                { try base.resolving(letters(count - 9)) },
                { try RequestData(path: "http://h/", parameters: ["q": letters(count - 12)]).transportRequest().url },
            ] as [() throws -> RequestURL] {
                guard count <= most else {
                    expectFailure(.invalidURL) { try make() }
                    continue
                }
                let url = try make()
                #expect(url.absoluteString.utf8.count == count)
                #expect(try RequestURL(url.absoluteString) == url)
            }
        }
    }

    @Test func `the parts are those of the URL`() throws {
        let url = try RequestURL("https://Example.com:8443/a%2Fb?token=secret#part")
        #expect(url.scheme == "https")
        #expect(url.host == "example.com")
        #expect(url.authority == "example.com:8443")
        #expect(url.effectivePort == 8443)
        #expect(url.path == "/a%2Fb")
        #expect(url.query == "token=secret")
        #expect(!url.isIPv6Literal)
        #expect(try RequestURL("https://h/").effectivePort == 443)
        #expect(try RequestURL("http://h/").effectivePort == 80)
        #expect(try RequestURL("http://[::1]/").isIPv6Literal)
    }

    @Test func `URLs are equal when they are sent alike`() throws {
        let url = try RequestURL("http://h/a?b")
        for other in ["HTTP://H/a?b", "http://h/x/../a?b#c"] {
            #expect(try RequestURL(other) == url)
            #expect(try RequestURL(other).hashValue == url.hashValue)
        }
        for other in ["https://h/a?b", "http://h:80/a?b", "http://h/a", "http://h/a?", "http://h/A?b", "http://i/a?b"] {
            #expect(try RequestURL(other) != url)
        }
    }

    @Test func `addresses are told from names`() throws {
        for address in ["http://127.0.0.1/", "http://[::1]:80/", "https://8.8.8.8"] {
            #expect(try RequestURL(address).isAddress, "\(address)")
        }
        for name in ["http://h/", "http://1a.example/", "http://1.2.3.a/", "http://0.example/"] {
            #expect(try !RequestURL(name).isAddress, "\(name)")
        }
    }

    @Test func `the description leaves the query out`() throws {
        #expect(try RequestURL("https://h/a?token=secret").description == "https://h/a?…")
        #expect(try RequestURL("https://h/a").description == "https://h/a")
    }
}

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
