import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite("Eviction of cookies")
struct CookieEvictionTests {
    private let jar = CookieJar(publicSuffixes: .builtIn, now: { Date(timeIntervalSince1970: 1_700_000_000) })

    private func take(_ lines: [String], from url: String) throws {
        for batch in stride(from: 0, to: lines.count, by: CookieJar.maximumPerResponse) {
            var fields = HTTPFields()
            for line in lines[batch..<min(batch + CookieJar.maximumPerResponse, lines.count)] {
                fields.append(HTTPField(name: .setCookie, value: line))
            }
            jar.take(fields, from: try RequestURL(url))
        }
    }

    private func sent(to url: String) throws -> String { jar.fieldValue(for: try RequestURL(url)) ?? "" }

    @Test(arguments: ["http://evil.example.com/", "http://www.example.com/"])
    func `clear text drives out no secure cookie of its site`(attacker: String) throws {
        try take(["__Host-sid=1; Secure; Path=/"], from: "https://www.example.com/")
        try take((0..<500).map { "n\($0)=v; Domain=example.com" }, from: attacker)
        #expect(try sent(to: "https://www.example.com/").contains("__Host-sid=1"))
        #expect(jar.cookies.count == CookieStore.maximumPerSite)
    }

    @Test func `clear text drives out no secure cookie of any site`() throws {
        try take(["sid=1; Secure; Path=/"], from: "https://bank.test/")
        for site in 0..<62 { try take((0..<50).map { "n\($0)=v" }, from: "http://site\(site).test/") }
        #expect((2_700...CookieStore.maximumInAll).contains(jar.cookies.count))
        #expect(try sent(to: "https://bank.test/") == "sid=1")
    }

    /// Regression: each cookie beyond the limit cost a search of all sites, 2 ms under the jar's lock.
    @Test func `a full jar makes room for many cookies at once, and keeps the secure ones`() throws {
        let room = CookieStore.maximumInAll
        for site in 0..<(room / 50) { try take((0..<50).map { "s\($0)=v; Secure" }, from: "https://s\(site).test/") }
        #expect(jar.cookies.count == room)
        // A cookie in clear drives out itself alone.
        try take(["n=v"], from: "http://clear.test/")
        #expect(jar.cookies.count == room && jar.cookies.allSatisfy(\.isSecure))
        // A secure one drives out a tenth: those that were used least recently.
        _ = try sent(to: "https://s0.test/")
        try take(["new=v; Secure"], from: "https://new.test/")
        #expect((room / 10 * 9 - 50...room / 10 * 9 + 1).contains(jar.cookies.count))
        #expect(try sent(to: "https://new.test/") == "new=v")
        #expect(try sent(to: "https://s0.test/").split(separator: ";").count == 50)
        #expect(try sent(to: "https://s1.test/").isEmpty)
    }

    @Test func `a full jar of secure cookies takes none in clear, and still new secure ones`() throws {
        let most = CookieStore.maximumPerSite
        try take((0..<most).map { "s\($0)=v; Secure" }, from: "https://www.example.com/")
        try take(["n=v"], from: "http://www.example.com/")
        #expect(jar.cookies.count == most && jar.cookies.allSatisfy(\.isSecure))
        try take(["new=v; Secure"], from: "https://www.example.com/")
        #expect(jar.cookies.count == most)
        #expect(jar.cookies.map(\.name).contains("new") && !jar.cookies.map(\.name).contains("s0"))
    }

    @Test func `expired cookies go before all others`() throws {
        let over = Date(timeIntervalSince1970: 1_700_000_000)
        var store = CookieStore(suffixes: .builtIn)
        func cookie(_ name: String, secure: Bool, ends: Date?) -> CookieJar.Cookie {
            CookieJar.Cookie(name: name, value: "v", domain: "a.test", isSecure: secure, expires: ends)
        }
        store.keep(cookie("old", secure: true, ends: over), at: over - 10)
        for number in 1..<CookieStore.maximumPerSite {
            store.keep(cookie("n\(number)", secure: false, ends: nil), at: over - 10)
        }
        store.keep(cookie("new", secure: false, ends: nil), at: over)
        #expect(store.cookies(at: over - 10).count == CookieStore.maximumPerSite)
        #expect(!store.cookies(at: over - 10).map(\.name).contains("old"))
    }

    /// In any order of cookies, one with Secure is evicted only when its site has no other kind.
    @Test(arguments: UInt64(1)...4) func `random cookies keep the order`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        var store = CookieStore(suffixes: .builtIn)
        var (before, losses): (Set<String>, Int) = ([], 0)
        for step in 0..<1_000 {
            let isSecure = Int.random(in: 0..<4, using: &generator) == 0
            let name = "\(isSecure ? "s" : "n")\(Int.random(in: 0..<600, using: &generator))"
            let host = ["a.example.com", "b.example.com"][Int.random(in: 0..<2, using: &generator)]
            store.keep(CookieJar.Cookie(name: name, value: "\(step)", domain: host, isSecure: isSecure), at: now)
            let kept = store.cookies(at: now)
            let secure = Set(kept.filter(\.isSecure).map { $0.domain + $0.name })
            #expect(kept.count <= CookieStore.maximumPerSite)
            if !before.isSubset(of: secure), !kept.allSatisfy(\.isSecure) { losses += 1 }
            before = secure
        }
        #expect(losses == 0)
    }
}

/// The examples of RFC 6265 §3.1, in their order.
struct CookieExampleTests {
    private let jar = CookieJar(publicSuffixes: .builtIn)
    private let url = "https://www.example.com/"

    private func take(_ lines: String..., from: String = "https://www.example.com/") throws {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .setCookie, value: line)) }
        jar.take(fields, from: try RequestURL(from))
    }

    private func sent(to url: String) throws -> String? { jar.fieldValue(for: try RequestURL(url)) }

    @Test func `a session identifier is sent back`() throws {
        try take("SID=31d4d96e407aad42")
        #expect(try sent(to: url) == "SID=31d4d96e407aad42")
        #expect(try sent(to: "https://sub.www.example.com/") == nil)
        #expect(try sent(to: "https://example.com/") == nil)
    }

    @Test func `path and domain widen the scope of a cookie`() throws {
        try take("SID=31d4d96e407aad42; Path=/; Domain=example.com")
        for host in ["www.example.com", "example.com", "a.b.example.com"] {
            #expect(try sent(to: "http://\(host)/any/where") == "SID=31d4d96e407aad42")
        }
        #expect(try sent(to: "http://badexample.com/") == nil)
    }

    @Test func `several cookies have their own attributes`() throws {
        try take("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly", "lang=en-US; Path=/; Domain=example.com")
        #expect(try sent(to: url) == "SID=31d4d96e407aad42; lang=en-US")
        #expect(try sent(to: "http://www.example.com/") == "lang=en-US")
        #expect(jar.cookies.map(\.isHTTPOnly) == [true, false])
    }

    @Test func `Expires keeps a cookie, and one in the past takes it away`() throws {
        let year = Calendar(identifier: .gregorian).component(.year, from: Date()) + 1
        try take("SID=31d4d96e407aad42; Path=/", "lang=en-US; Expires=Wed, 09 Jun \(year) 10:18:14 GMT")
        #expect(try sent(to: url) == "SID=31d4d96e407aad42; lang=en-US")
        try take("lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(try sent(to: url) == "SID=31d4d96e407aad42")
    }
}
