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
