import Foundation
import FoundationNetworking
import NetworkCore
import TestSupport
import Testing

@testable import URLSessionTransport

@Suite struct ResponseFieldsTests {
    @Test func `fields are sorted by name`() {
        let fields = HTTPFields(unordered: ["b": "2", "C": "3", "a": "1"])
        #expect(fields.map(\.name.rawName) == ["a", "b", "C"])
    }

    @Test func `fields whose names differ only in case are one`() {
        let fields = HTTPFields(unordered: ["x-foo": "2", "X-Foo": "1"])
        #expect(fields.count == 1)
        #expect(fields.first?.value == "1, 2")
    }

    @Test func `fields whose name is no token are left out`() {
        #expect(HTTPFields(unordered: ["bad name": "1", "good": "2", "": "3"]).map(\.value) == ["2"])
    }

    /// Regression: more than 65,534 ended the process.
    @Test func `any number of cookies leaves room for one too many`() {
        let joined = Array(repeating: "a=;path", count: 70_000).joined(separator: ", ")
        #expect(HTTPFields(unordered: ["Set-Cookie": joined, "a": "1"]).count == ExchangeState.maximumFields + 1)
    }

    @Test func `Set-Cookie is taken apart`() {
        let joined = "a=1; Expires=Wed, 09 Jun 2031 10:18:14 GMT; Path=/, b=2; HttpOnly, __Host-c=x=y"
        #expect(
            HTTPFields(unordered: ["Set-Cookie": joined])[values: .setCookie] == [
                "a=1; Expires=Wed, 09 Jun 2031 10:18:14 GMT; Path=/", "b=2; HttpOnly", "__Host-c=x=y",
            ]
        )
    }

    /// A server may put another user's text into a value.
    @Test(arguments: [
        "name=x, session=EVIL; Path=/", "name=x,session=EVIL; Path=/", "name=\"x, session=EVIL\"; Path=/",
        "name=x; y, session=EVIL; Path=/", "name=x; y=z, session=EVIL; Path=/", "name=x; Path=/,session=EVIL",
        "name=x; Path=/,  session=EVIL", "name=x; Path=/, session =EVIL", "name=x, a=b, session=EVIL; HttpOnly",
    ])
    func `a comma makes no second cookie`(value: String) { #expect(HTTPFields.cookies(in: value) == [value]) }

    @Test(arguments: [
        "Path=/x", "path=/x", "Expires=Wed, 09 Jun 2031 10:18:14 GMT", "Secure", "HttpOnly", "HTTPONLY", "Max-Age=5",
        "Domain=a.example", "SameSite=Lax", "Partitioned", "Priority=High", " Path=/ ", "Path",
    ])
    func `a known attribute may end a cookie`(attribute: String) {
        #expect(HTTPFields.cookies(in: "a=1;\(attribute), b=2; Path=/") == ["a=1;\(attribute)", "b=2; Path=/"])
    }

    /// Regression: each part looked through the whole cookie before it. Exchanges share the queue on which that is.
    @Test(arguments: [", b=1", ", b", "; x, b=1", ";Path, x", ", b=1; x=", "; Expires=Wed, 1, b"])
    func `a long Set-Cookie takes time in proportion to its length`(unit: String) {
        func joined(_ bytes: Int) -> String { "a=1" + String(repeating: unit, count: bytes / unit.utf8.count) }
        let (short, long) = (joined(4_000), joined(64_000))
        let most = cost(rounds: 3) { _ = HTTPFields.cookies(in: short) }
        #expect(!costsMore(than: most * 16 * 4) { _ = HTTPFields.cookies(in: long) })
    }

    @Test(arguments: ["", ",", "a", "a=1,", "=x, =y", "a=1, b"])
    func `an odd Set-Cookie loses nothing`(value: String) {
        let cookies = HTTPFields.cookies(in: value)
        #expect(cookies.count == 1)
        #expect(cookies.first == value)
    }

    @Test func `an HTTP head is taken`() throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 404, httpVersion: "HTTP/1.1", headerFields: ["X-A": "1"])
        )
        let head = try #require(HTTPResponse(response))
        #expect(head.status == .notFound)
        #expect(head.headerFields.map(\.value) == ["1"])
    }

    @Test func `a head of another protocol is none`() throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        #expect(HTTPResponse(plain) == nil)
        let odd = HTTPURLResponse(url: url, statusCode: 70_000, httpVersion: nil, headerFields: nil)
        #expect(odd.flatMap { HTTPResponse($0) } == nil)
    }
}
