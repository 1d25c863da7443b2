import NetworkCore
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct RequestURLJoiningTests {
    @Test(
        arguments: [
            ("http://h/v1", "users", "http://h/v1/users"),
            ("http://h/v1/", "users", "http://h/v1/users"),
            ("http://h/v1", "/users", "http://h/v1/users"),
            ("http://h/v1/", "/users", "http://h/v1/users"),
            ("http://h", "users/", "http://h/users/"),
            ("http://h", "/", "http://h/"),
            ("http://h/v1", "", "http://h/v1"),
            ("http://h/v1/", "", "http://h/v1/"),
            ("http://h", "", "http://h/"),
            ("http://h/v1?key=1", "users", "http://h/v1/users?key=1"),
            ("http://h/v1?key=1", "users?page=2", "http://h/v1/users?key=1&page=2"),
            ("http://h/v1", "users?page=2?x", "http://h/v1/users?page=2?x"),
            ("http://h/v1", "?page=2", "http://h/v1?page=2"),
            ("http://h/v1?", "users?", "http://h/v1/users"),
            ("http://h/v1#a", "users#b?c", "http://h/v1/users"),
            ("http://h/v1?k=a/b", "users?p=a/../../b", "http://h/v1/users?k=a/b&p=a/../../b"),
            ("http://h/v1", "a/../b", "http://h/v1/b"),
            ("http://h/v1", "a/..", "http://h/v1/"),
            ("http://h/v1", "./a", "http://h/v1/a"),
            ("http://h/v1", "..a/b..", "http://h/v1/..a/b.."),
            ("http://h/v1", "//other/x", "http://h/v1//other/x"),
            ("http://h", "//other/x", "http://h//other/x"),
            ("http://h", "@other/x", "http://h/@other/x"),
            ("http://h", ":80/x", "http://h/:80/x"),
            ("http://h/v1?k\u{301}", "/\u{301}?\u{301}#\u{301}", "http://h/v1/%CC%81?k%CC%81&%CC%81"),
            ("http://h/v1", "a:b", "http://h/v1/a:b"),
            ("http://h/v1", "né x/%2F", "http://h/v1/n%C3%A9%20x/%2F"),
            ("http://h/v1", "redirect?to=http://x/", "http://h/v1/redirect?to=http://x/"),
            ("http://h/v1", "%ff/x", "http://h/v1/%ff/x"),
            ("http://h/v1", "a;b=..;/..c;d/%2e%2e%2e", "http://h/v1/a;b=..;/..c;d/%2e%2e%2e"),
            ("http://h/v1", "a%5cb%252f%00%3f", "http://h/v1/a%5cb%252f%00%3f"),
            ("http://h/v1", "a%2Fb/../c", "http://h/v1/c"),
            ("http://h/v1?a=%2e%2e", "x?b=..%5c..", "http://h/v1/x?a=%2e%2e&b=..%5c.."),
        ]
    )
    func `a path is appended to its base`(base: String, path: String, url: String) throws {
        #expect(try RequestURL(base: base, path: path).absoluteString == url)
        #expect(try RequestData(path: path, baseURL: base).transportRequest().url.absoluteString == url)
    }

    @Test(
        arguments: [
            ("http://h/v1", "../admin", "'..'"),
            ("http://h/v1", "a/../../admin", "'..'"),
            ("http://h/v1", "/..", "'..'"),
            ("http://h/v1", "%2e%2e/admin", "'..'"),
            ("http://h/v1", "a/%2E./.%2e/x", "'..'"),
            ("http://h/v1", "./../x", "'..'"),
            ("http://h/v1", "a%2F..%2f../x", "'..'"),
            ("http://h/v1", "a%2Fb/../..", "'..'"),
            ("http://h/v1", "%2e%2e/%2e%2e/admin%ff", "'..'"),
            ("http://h/v1", "a%2f..%2f..%2fadmin/%ff", "'..'"),
            ("http://h/v1", "..;/admin", "'..'"),
            ("http://h/v1", "a/..;jsessionid=1/../admin", "'..'"),
            ("http://h/v1", "..%3b/admin", "'..'"),
            ("http://h/v1", "..%5cadmin", "'..'"),
            ("http://h/v1", "a%5C..%5C..%5Cadmin", "'..'"),
            ("http://h/v1", "%252e%252e/admin", "'..'"),
            ("http://h/v1", "..%252f..%252fadmin", "'..'"),
            ("http://h/v1", "%2525252e%2525252e/admin", "'..'"),
            ("http://h/v1", "%25%32%65%25%32%65/admin", "'..'"),
            ("http://h/v1", "..%00/admin", "'..'"),
            ("http://h/v1", "..%3f/admin", "'..'"),
            ("http://h/v1", "..%23", "'..'"),
            ("http:", "//other/x", "'//' is missing"),
            ("http:/", "/other/x", "'//' is missing"),
            ("http://", "other/x", "host is missing"),
            ("http://", "//other/x", "host is missing"),
            ("", "//other/x", "empty"),
            ("http://h/v1", "http://other/x", "whole URL"),
            ("http://h/v1", "HTTPS://other/x", "whole URL"),
            ("http://h/v1", "a\\..\\b", "'\\'"),
            ("http://h/v1", "a\r\nb", "control character"),
            ("h/v1", "users", "no scheme"),
            ("", "users", "empty"),
            ("file:///etc", "passwd", "'file'"),
            ("http://user:pw@h/", "x", "user and password"),
        ]
    )
    func `a bad join is refused`(base: String, path: String, reason: String) throws {
        let error = try #require(throws: NetworkError.self) { try RequestURL(base: base, path: path) }
        #expect(error.code == .invalidURL)
        #expect(error.message.contains(reason), "\(error)")
    }

    @Test func `any path stays below its base`() throws {
        var generator = SeededGenerator(seed: 4)
        let pieces = [
            "..", ".", "%2e", "%2F", "\u{301}", "/", "//", "a", "?", "#", "@", ":", "http://x", "\\", "%", "é", "&",
            " ",
        ]
        var joined = 0
        for _ in 0..<5_000 {
            let path = generator.text(of: pieces, upTo: 8)
            guard let url = try? RequestURL(base: "http://h:81/v1/x?k=1", path: path) else { continue }
            joined += 1
            #expect(url.authority == "h:81")
            #expect(url.path == "/v1/x" || url.path.hasPrefix("/v1/x/"), "\(path)")
            #expect(url.query?.hasPrefix("k=1") == true)
        }
        #expect(joined > 500)
    }

    /// Covers the interpretations of a path that some server has used: escapes decoded several times, `\` read as `/`,
    /// parameters dropped, the text cut at NUL.
    @Test func `no server reads a path above its base`() {
        var generator = SeededGenerator(seed: 17)
        let pieces = [
            ".", "..", ".", "%2e", "%252e", "%2F", "%252f", "%5c", "%255C", "/", "/", ";", "%3b", "%00", "%25", "2e",
            "a", "%ff", "%C3%A9", "%32%65", "%3f", "?",
        ]
        var joined = 0
        for _ in 0..<4_000 {
            let path = generator.text(of: pieces, upTo: 9)
            guard let url = try? RequestURL(base: "http://h/v1/x", path: path) else { continue }
            joined += 1
            for reading in Self.readings(of: url.path) where !Self.resolved(reading).starts(with: ["v1", "x"]) {
                Issue.record("\(path) is \(url.path), but reads as \(String(decoding: reading, as: UTF8.self))")
            }
        }
        #expect(joined > 400)
    }

    private static func readings(of path: String) -> [[UInt8]] {
        var readings = [Array(path.utf8)]
        for _ in 0..<4 { readings.append(decoded(readings[readings.count - 1])) }
        let slash = UInt8(ascii: "/")
        let bent = readings.map { $0.map { $0 == UInt8(ascii: "\\") ? slash : $0 } }
        let cut = (readings + bent).map { reading in
            let segments = reading.split(separator: slash, omittingEmptySubsequences: false)
            return Array(segments.map { $0.prefix { !";\0?#".utf8.contains($0) } }.joined(separator: [slash]))
        }
        return readings + bent + cut
    }

    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                output.append(value)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return output
    }

    private static func resolved(_ path: [UInt8]) -> [String] {
        var segments: [String] = []
        for segment in path.split(separator: UInt8(ascii: "/")) {
            switch String(decoding: segment, as: UTF8.self) {
            case ".": break
            case "..": _ = segments.popLast()
            case let other: segments.append(other)
            }
        }
        return segments
    }

    @Test(
        arguments: [
            ("7", "7"), ("a b", "a%20b"), ("a/../../b", "a%2F..%2F..%2Fb"), ("x?y=1#z", "x%3Fy%3D1%23z"),
            ("100%", "100%25"), ("n\u{E9}", "n%C3%A9"), ("", ""), ("...", "..."), (".", "%2E"), ("..", "%2E%2E"),
        ]
    )
    func `a text is one segment of a path`(text: String, segment: String) throws {
        #expect(RequestURL.segment(text) == segment)
        let data = RequestData(path: "accounts/\(RequestURL.segment(text))/x", baseURL: "http://h/v1")
        guard !text.contains("..") || text == "..." else {
            expectFailure(.invalidURL) { try data.transportRequest() }
            return
        }
        #expect(try data.transportRequest().url.path == "/v1/accounts/\(segment)/x")
    }

    @Test(arguments: ["", "localhost:8080", "127.0.0.1:8080", "htp://h/", "http://"])
    func `the error of a wrong base URL is that of the base`(base: String) async throws {
        let client = NetworkClient(transport: AnsweringTransport(), baseURL: base)
        let error = await expectFailure(.invalidURL) {
            try await client.send(RequestData(path: "users"), as: .data)
        }
        #expect(error?.message.contains("the client's `baseURL`, for the path ") == true, "\(error as Any)")
        #expect(error?.message.contains("'users'") == true)
    }

    @Test func `a whole URL below a base is told how to be sent`() throws {
        let error = expectFailure(.invalidURL) { try RequestURL(base: "http://h", path: "http://other/") }
        #expect(error?.message.contains("RequestData(url:)") == true)
    }
}

struct RequestURLResolvingTests {
    /// The examples of RFC 3986 §5.4.1 and §5.4.2, without fragments, which are never sent.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"),
    ])
    func `a reference is resolved as the RFC says`(reference: String, expected: String) throws {
        #expect(try RequestURL("http://a/b/c/d;p?q").resolving(reference).absoluteString == expected)
    }

    @Test(arguments: [
        ("https://B:8443/x", "https://b:8443/x"), ("HTTP://b", "http://b/"), ("a b", "http://a:81/p/a%20b"),
        ("ü", "http://a:81/p/%C3%BC"), ("1a:b", "http://a:81/p/1a:b"), ("%2F", "http://a:81/p/%2F"),
        ("?", "http://a:81/p/q?"), ("/", "http://a:81/"), ("//b:/x", "http://b/x"), ("::", "http://a:81/p/::"),
        ("//[::1]/x", "http://[::1]/x"),
    ])
    func `another reference leads where browsers go`(reference: String, expected: String) throws {
        #expect(try RequestURL("http://a:81/p/q").resolving(reference).absoluteString == expected)
    }

    @Test(arguments: [
        "g:h", "http:g", "http:", "ftp://a/", "javascript:alert(1)", "http://user:secret@h/", "//user@h/", "///x",
        "http:///x", "\\\\evil\\x", "/\\evil", "http://[", "//a b/", "//a%20b/", "/\u{1}", "/a\u{0}b", "/%zz", "/%",
        "//1.2/", "//0x7f.1/", "//\u{301}x/", "/" + String(repeating: "a", count: 70_000),
    ])
    func `a hostile reference is refused`(reference: String) throws {
        let base = try RequestURL("http://a/b")
        let error = #expect(throws: NetworkError.self) { try base.resolving(reference) }
        #expect(error?.code == .invalidURL)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test func `random references give URLs that are their own parse`() throws {
        var generator = SeededGenerator(seed: 3986)
        let base = try RequestURL("https://a.example:8443/b/c?d")
        let pieces = [
            "/", "//", "..", ".", "?", "#", ":", "@", "[", "]", "%", "%41", "a", "B", "1", "\\", "é", "\u{301}", "http",
            "https:",
            " ", "\u{7F}", "-", ";", "=", "&", "::1", "x.example",
        ]
        var good = 0
        for _ in 0..<5000 {
            guard let url = try? base.resolving(generator.text(of: pieces, upTo: 9)) else { continue }
            good += 1
            #expect(try RequestURL(url.absoluteString) == url)
            #expect(url.scheme == "http" || url.scheme == "https")
            #expect(url.absoluteString.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
        #expect(good > 250)
    }

    @Test func `many dot segments are resolved in linear time`() throws {
        let reference = String(repeating: "a/", count: 16_000) + String(repeating: "../", count: 10_000)
        let url = try RequestURL("http://a/").resolving(reference)
        #expect(url.path == "/" + String(repeating: "a/", count: 6000))
    }

    @Test func `the same origin is scheme, host and port`() throws {
        let url = try RequestURL("https://a/x")
        #expect(url.hasSameOrigin(as: try RequestURL("https://A:443/y?z")))
        for other in ["http://a/", "https://b/", "https://a:444/", "https://a./", "https://x.a/"] {
            #expect(!url.hasSameOrigin(as: try RequestURL(other)))
        }
    }
}
