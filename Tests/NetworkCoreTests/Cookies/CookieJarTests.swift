import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

struct CookieJarTests {
    private let jar: CookieJar

    init() {
        let time = Time()
        self.time = time
        jar = CookieJar(publicSuffixes: .builtIn, now: { time.date.withLock { $0 } })
    }

    private final class Time: Sendable {
        let date = Guarded(Date(timeIntervalSince1970: 1_700_000_000))
    }

    private let time: Time

    private func take(_ lines: [String], from url: String = "https://www.example.com/a/b") throws {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .setCookie, value: line)) }
        jar.take(fields, from: try RequestURL(url))
    }

    private func sent(to url: String = "https://www.example.com/a/b") throws -> String? {
        jar.fieldValue(for: try RequestURL(url))
    }

    /// Regression: the limit on an attribute counted for a path that is the URL's.
    @Test func `a cookie without a path is kept for a long one`() throws {
        let url = "https://www.example.com/" + String(repeating: "a", count: 1_100)
        try take(["sid=1"], from: url + "/x")
        #expect(try sent(to: url + "/y") == "sid=1")
        #expect(try sent(to: "https://www.example.com/") == nil)
    }

    private func isTaken(_ line: String, from url: String = "https://www.example.com/a/b") throws -> Bool {
        try take([line], from: url)
        defer { jar.removeAll() }
        return !jar.cookies.isEmpty
    }

    @Test(arguments: [
        "a=b", "a=", " a = b ", "a=b=c", "a=\"b c\"", "a=b;", "a=b; foo", "a=b; =", "a=b; Path", "a=b; Max-Age=x",
        "a=b; Expires=never", "a=b; Domain=", "a=b; Domain=.example.com", "a=b; DOMAIN=Example.COM", "a=b; Secure=no",
        "a=b; Domain=evil.com; Domain=example.com", "a=b;\tPath=/", "__Secure-a=b; Secure",
        "__Host-a=b; Secure; Path=/",
        "a=b; SameSite=Strict", "a=ü",
    ])
    func `a valid line is taken`(line: String) throws { #expect(try isTaken(line)) }

    /// Regression: the caller's cookie, of the host alone by default, left a cookie of the whole domain as it was.
    @Test(arguments: [true, false], [true, false])
    func `the caller's cookie replaces that of its domain`(includesSubdomains: Bool, isOfDomain: Bool) throws {
        let url = "https://example.com/"
        func cookie(_ value: String, expires: Date?) -> CookieJar.Cookie {
            CookieJar.Cookie(
                name: "sid", value: value, domain: "example.com", includesSubdomains: includesSubdomains,
                expires: expires)
        }
        let line = "sid=secret; Path=/\(isOfDomain ? "; Domain=example.com" : "")"
        try take([line, "other=1; Path=/"], from: url)
        try jar.set(cookie("new", expires: nil))
        #expect(jar.cookies.filter { $0.name == "sid" }.map(\.value) == ["new"])
        try take([line], from: url)
        try jar.set(cookie("", expires: .distantPast))
        #expect(try sent(to: url) == "other=1")
    }

    @Test(arguments: [
        "", "a", "=", "=b", " =b", ";a=b", "a; b=c", "a=b; Max-Age=0", "a=b; Max-Age=-1",
        "a\tb=c",
        "a=b; Domain=evil.com", "a=b; Domain=ample.com", "a=b; Domain=com", "a=b; Domain=..com", "a=b; Domain=.",
        "a=b; Domain=x.www.example.com", "a=b; Domain=example.com.", "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "__Secure-a=b", "__secure-a=b", "__Host-a=b; Secure", "__Host-a=b; Path=/", "__HOST-a=b; Secure; Path=/x",
        "__Host-a=b; Secure; Path=/; Domain=example.com",
        "a=" + String(repeating: "b", count: 4096),
    ])
    func `an invalid line is ignored`(line: String) throws { #expect(try !isTaken(line)) }

    /// These lines go to the parser directly, since the usual initializer of `HTTPField` replaces control characters.
    @Test(arguments: ["a=b\u{1}", "a=b\u{7F}", "a\u{0}=b", "a=b; Path=/\r\n"]) func `a control character is ignored`(
        line: String
    ) throws {
        let url = try RequestURL("https://www.example.com/")
        let parser = SetCookieParser(url: url, now: Date(), suffixes: .builtIn)
        #expect(parser.parse(line) == nil)
        #expect(parser.parse("a=b") != nil)
    }

    @Test func `secure cookies need TLS both ways`() throws {
        #expect(try !isTaken("a=b; Secure", from: "http://www.example.com/"))
        try take(["a=b; Secure; Path=/"])
        #expect(try sent() == "a=b")
        #expect(try sent(to: "http://www.example.com/") == nil)
    }

    /// Regression: a program that was tried on its developer's machine lost its session without a word.
    @Test(arguments: [
        "localhost", "localhost.", "app.localhost", "127.0.0.1", "127.255.1.2", "[::1]", "[0:0::1]",
    ])
    func `secure cookies work on this machine without TLS`(host: String) throws {
        let url = "http://\(host):8080/a/b"
        try take(["a=b; Secure; Path=/", "__Host-c=d; Secure; Path=/"], from: url)
        #expect(try sent(to: url) == "a=b; __Host-c=d")
        #expect(try sent(to: "https://\(host)/") == "a=b; __Host-c=d")
        try take(["a=new; Path=/"], from: url)
        #expect(try sent(to: url) == "a=new; __Host-c=d")
    }

    @Test(arguments: [
        "localhost.test", "notlocalhost", "128.0.0.1", "10.0.0.1", "[::2]", "[fe80::1]", "127.0.0.1.test",
        "ip6-localhost",
    ])
    func `other names and addresses are not this machine`(host: String) throws {
        #expect(try !isTaken("a=b; Secure", from: "http://\(host)/"))
        try jar.set(CookieJar.Cookie(name: "a", value: "b", domain: host, isSecure: true))
        #expect(try sent(to: "http://\(host)/") == nil)
        #expect(try sent(to: "https://\(host)/") == "a=b")
    }

    @Test(arguments: ["a=evil; Path=/", "a=evil; Path=/login", "a=evil; Path=/; Domain=example.com"])
    func `a cookie in clear text does not replace one that came over TLS`(line: String) throws {
        try take(["a=good; Secure; Path=/"])
        try take([line], from: "http://www.example.com/")
        #expect(jar.cookies.map(\.value) == ["good"])
        try take(["b=fine"], from: "http://www.example.com/")
        #expect(jar.cookies.count == 2)
    }

    @Test(arguments: [
        ("/", "/", true), ("/", "/x", true), ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/b", true),
        ("/a", "/ab", false),
        ("/a/", "/a", false), ("/a/", "/a/b", true), ("/a/b", "/a", false), ("/A", "/a", false),
    ])
    func `a path matches whole segments`(cookie: String, request: String, matches: Bool) throws {
        try take(["c=1; Path=\(cookie)"])
        #expect(try sent(to: "https://www.example.com\(request)") == (matches ? "c=1" : nil))
    }

    @Test(arguments: [
        ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/?q=/x/y", "/a/b"),
    ])
    func `the default path is the folder`(request: String, path: String) throws {
        for line in ["c=1", "c=1; Path=", "c=1; Path=x", "c=1; Path=/x; Path=y"] {
            try take([line], from: "https://h.example/\(request.dropFirst())")
            #expect(jar.cookies.map(\.path) == [path])
            jar.removeAll()
        }
    }

    /// Regression: a request got the new cookie of a response with the old value of another one.
    @Test func `the cookies of one response are stored together`() async throws {
        let jar = CookieJar(publicSuffixes: .builtIn)
        let url = try RequestURL("http://h.test/")
        let taking = Task.detached {
            for round in 0..<60 {
                let lines = (0..<10).map { HTTPField(name: .setCookie, value: "c\($0)=\(round)") }
                jar.take(HTTPFields(lines), from: url)
                await Task.yield()
            }
        }
        var mixed = 0
        for _ in 0..<400 {
            if Set(jar.cookies(for: url).map(\.value)).count > 1 { mixed += 1 }
            await Task.yield()
        }
        await taking.value
        #expect(mixed == 0)
    }

    @Test func `the order is longest path first, then oldest first`() throws {
        try take(["a=1; Path=/", "b=2; Path=/a", "c=3; Path=/a/b", "d=4; Path=/a"])
        #expect(try sent() == "c=3; b=2; d=4; a=1")
        // A replaced cookie keeps its position.
        try take(["b=5; Path=/a"])
        #expect(try sent() == "c=3; b=5; d=4; a=1")
    }

    @Test func `Max-Age wins over Expires, and ends a cookie`() throws {
        try take(["a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
        #expect(try sent() == "a=1")
        time.date.withLock { $0 += 9 }
        #expect(try sent() == "a=1")
        time.date.withLock { $0 += 1 }
        #expect(try sent() == nil)
        #expect(jar.cookies.isEmpty)
    }

    @Test func `an age is at most 400 days`() throws {
        for line in ["a=1; Max-Age=99999999999999999999999", "a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT"] {
            try take([line])
            #expect(jar.cookies.first?.expires == time.date.withLock { $0 + 400 * 86_400 })
        }
    }

    @Test func `addresses have no subdomains`() throws {
        #expect(try isTaken("a=b; Domain=127.0.0.1", from: "http://127.0.0.1/"))
        #expect(try !isTaken("a=b; Domain=0.0.1", from: "http://127.0.0.1/"))
        #expect(try isTaken("a=b", from: "http://[::1]/"))
        try take(["a=b; Domain=127.0.0.1"], from: "http://127.0.0.1:81/")
        #expect(try sent(to: "http://127.0.0.1:82/") == "a=b")
        #expect(jar.cookies.map(\.includesSubdomains) == [false])
    }

    @Test func `a public suffix is for itself alone`() throws {
        #expect(try !isTaken("a=b; Domain=co.uk", from: "https://a.co.uk/"))
        #expect(try !isTaken("a=b; Domain=co.uk.", from: "https://a.co.uk./"))
        try take(["a=b; Domain=github.io"], from: "https://github.io/")
        #expect(jar.cookies.map(\.includesSubdomains) == [false])
        #expect(try sent(to: "https://x.github.io/") == nil)
    }

    /// As in browsers and libpsl: the domains beyond the suffix belong to others.
    @Test func `a domain beyond a public suffix is refused`() throws {
        for (domain, isTaken) in [
            ("evil.s3.amazonaws.com", true), ("s3.amazonaws.com", false), ("amazonaws.com", false),
        ] {
            #expect(try self.isTaken("a=b; Domain=\(domain)", from: "https://x.evil.s3.amazonaws.com/") == isTaken)
        }
        try take(["a=b; Domain=amazonaws.com"], from: "https://console.amazonaws.com/")
        #expect(try sent(to: "https://www.amazonaws.com/") == "a=b")
        #expect(try sent(to: "https://evil.s3.amazonaws.com/") == nil)
    }

    @Test func `the request's own field stays in front, and its names win`() throws {
        try take(["a=jar; Path=/", "b=jar; Path=/"])
        let url = try RequestURL("https://www.example.com/")
        #expect(jar.fieldValue(for: url, after: "a=own; c=own") == "a=own; c=own; b=jar")
        #expect(CookieJar().fieldValue(for: url, after: "a=own") == "a=own")
        #expect(CookieJar().fieldValue(for: url) == nil)
    }

    @Test func `the limits of a jar hold`() throws {
        try take((0..<60).map { "n\($0)=v" })
        #expect(jar.cookies.count == 50)
        for batch in 0..<10 { try take((0..<50).map { "m\(batch)-\($0)=v" }, from: "https://s\(batch).example.com/") }
        #expect(jar.cookies.count == 180)
        for site in 0..<100 { try take((0..<50).map { "m\($0)=v" }, from: "https://site\(site).test/") }
        #expect((2_700...3_000).contains(jar.cookies.count))
        #expect(try sent(to: "https://site99.test/") != nil)
        #expect(try sent(to: "https://site0.test/") == nil)
    }

    @Test func `a field has at most 8190 bytes`() throws {
        let value = String(repeating: "v", count: 1000)
        try take((0..<20).map { "n\($0)=\(value)" })
        let field = try #require(try sent())
        #expect(field.utf8.count <= 8190)
        #expect(field.hasPrefix("n0="))
    }

    @Test(arguments: [
        CookieJar.Cookie(name: "", value: "x", domain: "a.test"),
        CookieJar.Cookie(name: "a;b", value: "x", domain: "a.test"),
        CookieJar.Cookie(name: "a=b", value: "x", domain: "a.test"),
        CookieJar.Cookie(name: "a", value: "x;y", domain: "a.test"),
        CookieJar.Cookie(name: "a", value: "x\r\nEvil: y", domain: "a.test"),
        CookieJar.Cookie(name: "a", value: "x", domain: "A.test"),
        CookieJar.Cookie(name: "a", value: "x", domain: ""), CookieJar.Cookie(name: "a", value: "x", domain: ".a.test"),
        CookieJar.Cookie(name: "a", value: "x", domain: "a.test:80"),
        CookieJar.Cookie(name: "a", value: "x", domain: "a.test", path: "x"),
        CookieJar.Cookie(name: "a", value: "x", domain: "com", includesSubdomains: true),
        CookieJar.Cookie(name: "__Secure-a", value: "x", domain: "a.test"),
        CookieJar.Cookie(name: "a", value: "x\u{0}", domain: "a.test"),
        CookieJar.Cookie(name: "a", value: String(repeating: "x", count: 4096), domain: "a.test"),
    ])
    func `a cookie of the caller's that no server could set is refused`(cookie: CookieJar.Cookie) {
        let error = #expect(throws: NetworkError.self) { try jar.set(cookie) }
        #expect(error?.code == .invalidOption)
        #expect(jar.cookies.isEmpty)
    }

    @Test func `a cookie of the caller's is sent`() throws {
        try jar.set(CookieJar.Cookie(name: "a", value: "x", domain: "example.com", includesSubdomains: true))
        #expect(try sent() == "a=x")
        let shown = "\(jar.cookies) \(String(reflecting: jar.cookies))"
        #expect(!shown.contains("x)") && !shown.contains("=x"))
    }

    @Test func `random fields never trap, and limits hold`() throws {
        var generator = SeededGenerator(seed: 6265)
        let pieces = [
            "a", "b", "=", ";", ";", " ", "\t", "Path=", "/", "Domain=", "example.com", ".", "com", "Max-Age=", "-",
            "1", "999999999999",
            "Expires=", "Wed, 09 Jun 2031 10:18:14 GMT", "09 Jun", "10:18:14", ":", ",", "Secure", "HttpOnly",
            "__Host-", "\"", "é",
            "\u{301}", "\u{0}", "\r", "%", "SameSite=None",
        ]
        let urls = try ["https://www.example.com/a/b", "http://example.com/", "http://127.0.0.1/x", "https://[::1]/"]
            .map {
                try RequestURL($0)
            }
        for _ in 0..<4000 {
            let line = generator.text(of: pieces, upTo: 12)
            guard let url = urls.randomElement(using: &generator) else { continue }
            jar.take([.setCookie: line], from: url)
            for cookie in jar.cookies(for: url) {
                #expect(!cookie.name.isEmpty && cookie.path.hasPrefix("/"))
                #expect(CookieMatching.domain(url.host, matches: cookie.domain))
                #expect(url.host != "example.com" || !cookie.isSecure)
            }
        }
        #expect(!jar.cookies.isEmpty)
        #expect(jar.cookies.count <= 3000)
        // The jar's cookies come back from its file.
        let copy = CookieJar(publicSuffixes: .builtIn, now: { [time] in time.date.withLock { $0 } })
        try copy.add(netscape: jar.netscape)
        #expect(Set(copy.cookies.map(\.name)).isSubset(of: Set(jar.cookies.map(\.name))))
    }
}
