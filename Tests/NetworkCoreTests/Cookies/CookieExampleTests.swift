import Foundation
import NetworkCore
import Testing

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
