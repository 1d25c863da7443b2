import Foundation
import FoundationNetworking
import NetworkCore
import TestSupport
import Testing

@testable import URLSessionTransport

@Suite struct URLRequestTests {
    @Test func `a request carries method, fields and body`() throws {
        var request = try makeRequest(method: HTTPRequest.Method(checking: "PURGE"))
        request.body = .bytes(Data("abc".utf8))
        request.headerFields[.contentType] = "text/plain"
        let urlRequest = try URLRequest(request)
        #expect(urlRequest.httpMethod == "PURGE")
        #expect(urlRequest.httpBody == Data("abc".utf8))
        #expect(urlRequest.value(forHTTPHeaderField: "content-type") == "text/plain")
        #expect(urlRequest.value(forHTTPHeaderField: "Accept") == "*/*")
        #expect(urlRequest.value(forHTTPHeaderField: "User-Agent") == TransportRequest.userAgent)
        #expect(urlRequest.value(forHTTPHeaderField: "Content-Length") == nil)
        #expect(!urlRequest.httpShouldHandleCookies)
    }

    @Test func `invented fields are left out, unless the caller gives them`() throws {
        var request = try makeRequest(method: .post)
        request.headerFields[.acceptLanguage] = "de"
        let urlRequest = try URLRequest(request)
        #expect(urlRequest.value(forHTTPHeaderField: "Accept-Language") == "de")
        // A blank value keeps FoundationNetworking and libcurl from adding their own.
        for name in ["Content-Type", "Expect", "Connection"] {
            #expect(urlRequest.value(forHTTPHeaderField: name) == " ")
        }
    }

    @Test func `repeated fields are joined`() throws {
        var fields = HTTPFields()
        for (name, value) in [("X-A", "1"), ("Cookie", "a=1"), ("x-a", "2"), ("cookie", "b=2")] {
            fields.append(try HTTPField(checking: name, value: value))
        }
        let joined = URLRequest.joined(fields)
        #expect(joined.map(\.name) == ["X-A", "Cookie"])
        #expect(joined.map(\.value) == ["1, 2", "a=1; b=2"])
    }

    /// Regression: each field was compared with all names before it.
    @Test func `many header fields take time in proportion to their number`() throws {
        func fields(_ count: Int) throws -> HTTPFields {
            var fields = HTTPFields()
            for number in 0..<count { fields.append(try HTTPField(checking: "x-\(number)", value: "1")) }
            return fields
        }
        let (few, many) = (try fields(500), try fields(8_000))
        let most = cost(rounds: 3) { _ = URLRequest.joined(few) }
        #expect(!costsMore(than: most * 16 * 4) { _ = URLRequest.joined(many) })
    }

    /// Otherwise Foundation would encode the percent signs again.
    @Test func `a URL with brackets keeps its percent signs`() throws {
        let urlRequest = try URLRequest(makeRequest("http://127.0.0.1:8080/a%20b?c[d]=%41|e"))
        #expect(urlRequest.url?.absoluteString == "http://127.0.0.1:8080/a%20b?c%5Bd%5D=%41%7Ce")
    }

    @Test(arguments: [
        "http://a", "https://a.example:8443/x//y/?", "http://a/?q=a+b&c='(*)'~!$;:@,", "http://a_b/~x;p=1/@",
        "http://a/ä ö?ü=\"<>\u{1F600}`{}^#frag", "HTTP://A.Example/%zz?".replacingOccurrences(of: "%zz", with: "%2f"),
        "http://a./?a?b/c", "http://127.0.0.1/?%00",
    ])
    func `Foundation reads a URL as we write it`(text: String) throws {
        let url = try RequestURL(text)
        #expect(try URLRequest(TransportRequest(url: url)).url?.absoluteString == url.absoluteString)
    }
}

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
