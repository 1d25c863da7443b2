import Foundation
import TestSupport
import Testing

@testable import NetworkCore

/// A peer reads bytes. A combining mark after a delimiter makes both one other Character, and some Characters equal an
/// ASCII one although their bytes differ: U+037E equals a semicolon, U+212A a K.
@Suite("Text that a peer reads as bytes is compared as bytes")
struct ByteComparisonTests {
    private static let url = "https://www.example.com/"

    private func jar(after line: String, from url: String = ByteComparisonTests.url) throws -> CookieJar {
        let jar = CookieJar(publicSuffixes: .builtIn)
        jar.take([.setCookie: line], from: try RequestURL(url))
        return jar
    }

    @Test func `a media type ends at the semicolon, whatever follows`() throws {
        let marked = try #require(MediaType("text/html;\u{301}charset=latin1; charset=utf-8"))
        #expect(marked.essence == "text/html")
        #expect(marked.parameters == ["charset": "utf-8"])
        #expect(MediaType("text/\u{301}html") == nil)
        #expect(MediaType("text/html\u{37E}charset=utf-8") == nil, "U+037E is no semicolon")
    }

    @Test func `a media type's parameter keeps its bytes`() throws {
        let quoted = try #require(MediaType("a/b; x=\"\u{301}; y=1\\\"\u{301}\"; z=\u{301}2"))
        #expect(quoted.parameters["x"].map { Array($0.utf8) } == Array("\u{301}; y=1\"\u{301}".utf8))
        #expect(quoted.parameters["y"] == nil)
        #expect(quoted.parameters["z"].map { Array($0.utf8) } == Array("\u{301}2".utf8))
        #expect(try #require(MediaType("a/b; \u{212A}ey=1")).parameters.isEmpty)
        #expect(try #require(MediaType("x-k/k")).matches("x-\u{212A}/k") == false)
    }

    @Test(arguments: ["__Host-\u{301}a", "__HOST-\u{301}", "__Secure-\u{301}a", "__\u{17F}ecure-a"])
    func `a cookie's prefix is its bytes`(name: String) throws {
        // The last name starts with another letter, which makes it a different name.
        let isPrefixed = name.utf8.starts(with: "__H".utf8) || name.utf8.starts(with: "__S".utf8)
        #expect(try jar(after: "\(name)=evil; Path=/x").cookies.isEmpty == isPrefixed)
        #expect(try !jar(after: "\(name)=good; Secure; Path=/").cookies.isEmpty)
        let own = CookieJar.Cookie(name: name, value: "evil", domain: "www.example.com")
        #expect(isPrefixed == ((try? CookieJar(publicSuffixes: .builtIn).set(own)) == nil))
    }

    @Test func `a cookie's domain is its bytes`() throws {
        let line = "a=1; Domain=\u{212A}.example.com"
        #expect(try jar(after: line, from: "https://k.example.com/").cookies.isEmpty)
        #expect(try jar(after: "a=1; Domain=K.Example.com", from: "https://k.example.com/").cookies.count == 1)
    }

    @Test func `cookies with other bytes are other cookies`() throws {
        let jar = try jar(after: "caf\u{E9}=1")
        jar.take([.setCookie: "cafe\u{301}=2"], from: try RequestURL(Self.url))
        #expect(jar.cookies.map(\.value) == ["1", "2"])
        let field = jar.fieldValue(for: try RequestURL(Self.url), after: "cafe\u{301}=0")
        #expect(field.map { Array($0.utf8) } == Array("cafe\u{301}=0; caf\u{E9}=1".utf8))
    }

    @Test func `a cookie file's columns end at the tab`() throws {
        let jar = CookieJar(publicSuffixes: .builtIn)
        try jar.add(netscape: "#\u{301} a comment\na.test\tFALSE\t/\tFALSE\t0\tname\t\u{301}value\n")
        #expect(jar.cookies.map { Array($0.value.utf8) } == [Array("\u{301}value".utf8)])
        let copy = CookieJar(publicSuffixes: .builtIn)
        try copy.add(netscape: jar.netscape)
        #expect(copy.cookies == jar.cookies)
    }

    @Test func `a user with a colon is refused, whatever follows it`() {
        for authentication: TransportOptions.Authentication in [
            .basic(user: "a:\u{301}b", password: "c"), .digest(user: "a:\u{301}", password: "c"),
        ] {
            expectFailure(.invalidOption) { try authentication.check() }
        }
    }

    @Test func `the scheme of a proxy is its bytes`() {
        expectFailure(.invalidOption) { try TransportOptions.Proxy.Server("soc\u{212A}s5://127.0.0.1:1080").check() }
    }

    @Test func `the name of a file's part has no folder`() throws {
        let part = MultipartPart.file("a", path: "/secret/\u{301}name")
        #expect(part.fileName.map { Array($0.utf8) } == Array("\u{301}name".utf8))
    }

    @Test func `an entity tag with other bytes is another version`() throws {
        let source = try RequestURL(Self.url)
        let record = PartialRecord(
            url: Self.url, validator: "\"caf\u{E9}\"", total: 100)
        var head = HTTPResponse(status: .partialContent)
        head.headerFields.append(try HTTPField(checking: "Content-Range", value: "bytes 40-99/100"))
        head.headerFields[.eTag] = "\"cafe\u{301}\""
        #expect(ResumePlan(length: 40, record: record).reaction(to: head, from: source) == .startAgain)
        head.headerFields[.eTag] = "\"caf\u{E9}\""
        #expect(ResumePlan(length: 40, record: record).reaction(to: head, from: source) == .append(total: 100))
    }

    @Test func `blanks around a field's value are dropped, whatever follows them`() throws {
        let field = try HTTPField(checking: "A", value: "\t \u{301}a \t")
        #expect(Array(field.value.utf8) == Array("\u{301}a".utf8))
    }
}
