import Foundation
import FoundationNetworking
@testable import NetworkLayer
import NetworkLayerTutorials
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct URLRequestTests {
    private func request(_ url: String = "http://h/a?b=1", _ change: (inout URLRequest) -> Void = { _ in })
        -> URLRequest
    {
        var request = URLRequest(url: URL(string: url)!)
        change(&request)
        return request
    }

    @Test func `everything that a URLRequest says is in the request`() throws {
        let made = try request {
            $0.httpMethod = "PUT"
            $0.setValue("1", forHTTPHeaderField: "X-A")
            $0.addValue("2", forHTTPHeaderField: "X-A")
            $0.httpBody = Data("body".utf8)
            $0.timeoutInterval = 5
        }.data.transportRequest()
        #expect(made.method == .put)
        #expect(made.url.absoluteString == "http://h/a?b=1")
        #expect(made.headerFields == [HTTPField.Name("X-A")!: "1,2"])
        #expect(made.body?.knownBytes == Data("body".utf8))
        #expect(made.options.idleTimeout == .seconds(5))
    }

    /// Regression: with a base URL, the request's URL was taken for a path and appended to it.
    @Test(arguments: ["http://api.example.com/v1/users", "http://other.example.org/users?a=b"])
    func `its URL is whole, whatever the client's base`(url: String) async throws {
        let stub = StubTransport(always: .text("ok"))
        var client = NetworkClient(transport: stub, baseURL: "http://api.example.com/v1")
        client.headerFields[.authorization] = "Bearer home"
        _ = try await client.send(request(url), as: .text)
        let (ended, end) = AsyncStream<(any Error)?>.makeStream()
        client.send(request(url)) { _, _, error in end.yield(error) }
        for await error in ended.prefix(1) { #expect(error == nil) }
        #expect(stub.sent.map(\.url.absoluteString) == [url, url])
        // The base URL's credentials stay with its origin.
        let field = url.contains("api.example") ? "Bearer home" : nil
        #expect(stub.sent.map { $0.headerFields[.authorization] } == [field, field])
    }

    @Test func `its URL is no path`() async throws {
        var client = NetworkClient(transport: StubTransport())
        client.baseURL = "http://api.example.com/v1"
        await expectFailure(.invalidURL) { try await client.send(request("users"), as: .text) }
    }

    @Test func `its timeout is the idle timeout`() throws {
        func timeout(_ seconds: TimeInterval) throws -> Duration? {
            try request { $0.timeoutInterval = seconds }.data.transportRequest().options.idleTimeout
        }
        var options = TransportOptions()
        options.idleTimeout = .seconds(7)
        #expect(try request().data.transportRequest(options: options).options.idleTimeout == .seconds(7))
        #expect(try timeout(0.5) == .milliseconds(500))
        #expect(try timeout(.infinity) == TransportOptions.maximumTimeout)
        #expect(try timeout(.greatestFiniteMagnitude) == TransportOptions.maximumTimeout)
        for bad in [-1, -Double.infinity, .nan] {
            let made = try request { $0.timeoutInterval = bad }.data.transportRequest()
            let error = expectFailure(.invalidOption) { try made.options.check() }
            #expect(error?.message.contains("idleTimeout") == true)
        }
    }

    @Test func `a URLRequest that can't be sent is named`() {
        expectFailure(.invalidURL) { try request { $0.url = nil }.data.transportRequest() }
        expectFailure(.invalidURL) { try request("file:///etc/passwd").data.transportRequest() }
        expectFailure(.invalidMethod) { try request { $0.httpMethod = "G T" }.data.transportRequest() }
        expectFailure(.invalidHeaderField) {
            try request { $0.setValue("x", forHTTPHeaderField: "a b") }.data.transportRequest()
        }
    }

    @Test func `a request comes out as a URLRequest`() throws {
        var data = RequestData(
            path: "né?x=1",
            baseURL: "http://h/v1",
            method: .post,
            query: ["t": ["a b"]],
            content: .json(parameters: ["n": 1]),
            headerFields: ["X-A": "1"]
        )
        data.idleTimeout = .milliseconds(2500)
        let made = try data.urlRequest()
        #expect(made.url?.absoluteString == "http://h/v1/n%C3%A9?x=1&t=a%20b")
        #expect(made.httpMethod == "POST")
        #expect(made.allHTTPHeaderFields == ["X-A": "1", "Content-Type": "application/json"])
        #expect(made.httpBody == Data(#"{"n":1}"#.utf8))
        #expect(made.timeoutInterval == 2.5)
        // Converts the request back.
        let (there, back) = (try data.transportRequest(), try made.data.transportRequest())
        #expect(there.url == back.url)
        #expect(there.method == back.method)
        #expect(Set(there.headerFields) == Set(back.headerFields))
        #expect(there.body?.knownBytes == back.body?.knownBytes)
        #expect(there.options == back.options)
    }

    @Test func `user and password are the field of a URLRequest`() throws {
        let made = try RequestData(path: "http://u:p@h/").urlRequest()
        #expect(made.url?.absoluteString == "http://h/")
        #expect(made.value(forHTTPHeaderField: "Authorization") == "Basic dTpw")
        let own = try RequestData(path: "http://u:p@h/", headerFields: ["authorization": "Own x"]).urlRequest()
        #expect(own.value(forHTTPHeaderField: "Authorization") == "Own x")
        var encoded = request("http://u:p@h/a")
        try URLParameterEncoder.encode(urlRequest: &encoded, with: ["b": 1])
        #expect(encoded.url?.absoluteString == "http://h/a?b=1")
        #expect(encoded.value(forHTTPHeaderField: "Authorization") == "Basic dTpw")
    }

    @Test func `a streamed body is no part of a URLRequest`() {
        let data = RequestData(path: "http://h/", method: .post, content: .stream(AsyncStream<Data> { $0.finish() }))
        expectFailure(.unsupported) { try data.urlRequest() }
    }

    @Test func `an endpoint without URL fails with its reason`() async throws {
        struct Nowhere: BaseRequest {
            let base = "ftp://h"
            let path = "/é %"
        }
        let made = Nowhere().request
        let error = expectFailure(.invalidURL) { try made.data.transportRequest() }
        #expect(error?.message.contains("'ftp'") == true, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            ("https://api.example.com", ".evil.example/..%2f.."), ("https://api.example.com/v1/", "../admin"),
            ("https://api.example.com/v1", "%2e%2e/admin"), ("https://api.example.com", "x\r\nX: y"),
            ("", "http://evil.example/"), ("http:", "//evil.example/"), ("http://", "evil.example/"),
            ("https://api.example.com@", "evil.example/"), ("https://api.example.com:", "80/%zz"), ("ftp://h", "x"),
        ])
    func `an endpoint that is refused is refused as a URLRequest`(base: String, path: String) async throws {
        let endpoint = AnyEndpoint(base: base, path: path)
        let typed = expectFailure(.invalidURL) { try endpoint.data.transportRequest() }
        let made = expectFailure(.invalidURL) { try endpoint.request.data.transportRequest() }
        #expect(typed?.message == made?.message)
        #expect(endpoint.request.url?.host == nil)
        let stub = StubTransport()
        await expectFailure(.invalidURL) { try await stub.send(endpoint.request, as: .data) }
        // Later changes to the request do not make it valid.
        var changed = endpoint.request
        changed.url = URL(string: "http://h/")
        changed.httpMethod = "POST"
        changed.setValue("1", forHTTPHeaderField: "X-A")
        await expectFailure(.invalidURL) { try await stub.send(changed, as: .data) }
        #expect(stub.sent.isEmpty)
    }

    @Test func `a refused request reaches no dispatcher`() async {
        struct OwnDispatcher: NetworkDispatcher {
            func dispatch(
                request: RequestData,
                onSuccess: @escaping @Sendable (Data) -> Void,
                onError: @escaping @Sendable (any Error) -> Void
            ) {
                onSuccess(Data("1".utf8))
            }
        }
        let request = AnyEndpoint(base: "http://h/v1", path: "../x").request
        await expectFailure(.invalidURL) { try await request.send(as: Int.self, over: OwnDispatcher()).body }
        await expectFailure(.invalidURL) { try await OwnDispatcher().send(request.data, as: .data).body }
    }

    private struct AnyEndpoint: BaseRequest {
        let base: String
        let path: String
    }

    @Test func `URLSession refuses a refused endpoint too`() async {
        let request = AnyEndpoint(base: "ftp://h", path: "x").request
        await #expect(throws: URLError.self) { try await URLSession.shared.data(for: request) }
    }

    @Test(arguments: [
        "unusable:http%3A%2F%2F127.0.0.1%3A1%2F", "unusable:http://127.0.0.1:1/", "unusable:", "data:,x", "about:blank",
        "http:%2F%2Fh/", "http:h", "//h/x", "/x", "x:http://h/", "unusable://h/",
    ])
    func `a URL without a host is refused`(text: String) async throws {
        let url = try #require(URL(string: text))
        let stub = StubTransport()
        await expectFailure(.invalidURL) {
            try await stub.send(URLRequest(url: url), as: .data)
        }
        #expect(stub.sent.isEmpty)
    }

    /// A caller can check `url.host` to know where the request goes.
    @Test func `the host of the URL is the host that is asked`() throws {
        var generator = SeededGenerator(seed: 23)
        let pieces = [
            "http", "https", "unusable", "file", ":", ":", "//", "//", "/", "a.example", "b", "127.0.0.1", "@", "%3A",
            "%2F%2F", "?", "#", "u:p@", ":80", "[::1]", "..", "\\", "%", "x",
        ]
        var sent = 0
        for round in 0..<5_000 {
            let text = (round % 2 == 0 ? "http://" : "") + generator.text(of: pieces, upTo: 6)
            guard let url = URL(string: text), let made = try? URLRequest(url: url).data.transportRequest() else {
                continue
            }
            sent += 1
            let host = made.url.host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            #expect(url.host?.trimmingCharacters(in: CharacterSet(charactersIn: "[]")) == host, "\(text)")
            #expect(url.scheme?.lowercased() == made.url.scheme, "\(text)")
            #expect(url.port == made.url.port, "\(text)")
        }
        #expect(sent > 150)
    }

    private func answer(to request: URLRequest, over transport: any HTTPTransport) async throws -> (
        Data, HTTPURLResponse
    ) {
        let client = NetworkClient(transport: transport).with { $0.validation = .any }
        let response = try await client.send(request, as: .data)
        return (response.body, try #require(response.httpURLResponse))
    }

    @Test func `the response is Foundation's`() async throws {
        var fields: HTTPFields = [.server: "s"]
        fields.append(HTTPField(name: .vary, value: "a"))
        fields.append(HTTPField(name: .vary, value: "b"))
        let stub = StubTransport(always: .text("gone", status: 410, headerFields: fields))
        let (body, head) = try await answer(to: request(), over: stub)
        #expect(body == Data("gone".utf8))
        #expect(head.statusCode == 410)
        #expect(head.url?.absoluteString == "http://h/a?b=1")
        #expect(head.value(forHTTPHeaderField: "server") == "s")
        #expect(head.value(forHTTPHeaderField: "vary") == "a, b")
    }

    /// Regression: each spelling of a name got its own copy of all values, in quadratic time and memory.
    @Test func `names that differ in case alone are one field of Foundation's response`() throws {
        var head = HTTPResponse(status: .ok)
        for number in 0..<4_000 {
            let name = String("x-aaaaaaaaaaaa".enumerated().map { number >> $0 & 1 == 1 ? $1.uppercased().first! : $1 })
            head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: "v"))
        }
        let response = NetworkResponse(body: Data(), head: head, url: try RequestURL("http://h/"))
        let fields = try #require(response.httpURLResponse).allHeaderFields
        #expect(fields.count == 1)
        #expect((fields.values.first as? String)?.utf8.count == 4_000 * 3 - 2)
    }

    /// Regression: Foundation parses these two fields in quadratic time, after the call's deadline.
    @Test(arguments: [HTTPField.Name.contentType, .contentDisposition])
    func `a field that Foundation would parse for seconds makes no response of Foundation's`(
        name: HTTPField.Name
    ) throws {
        func response(_ count: Int) throws -> NetworkResponse<Data> {
            var head = HTTPResponse(status: .ok)
            for _ in 0..<count {
                let value = "text/plain;" + String(repeating: "a", count: 1_011)
                head.headerFields.append(HTTPField(name: name, value: value))
            }
            return NetworkResponse(body: Data(), head: head, url: try RequestURL("http://h/"))
        }
        for (count, isThere) in [(1, true), (7, true), (9, false)] {
            #expect(try (response(count).httpURLResponse != nil) == isThere, "\(count)")
        }
        let (usual, longest) = (try response(7), try response(250))
        let most = cost(rounds: 2) { _ = usual.httpURLResponse }
        #expect(!costsMore(than: most * 10) { _ = longest.httpURLResponse })
    }

    @Test func `the URL encoder adds to the query`() throws {
        var made = request { $0.httpBody = Data("kept".utf8) }
        try URLParameterEncoder.encode(
            urlRequest: &made, with: ["q": "a+b & c", "n": 1, "d": Date(timeIntervalSince1970: 0)])
        #expect(made.url?.absoluteString == "http://h/a?b=1&d=1970-01-01T00%3A00%3A00Z&n=1&q=a%2Bb%20%26%20c")
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded; charset=utf-8")
        #expect(made.httpBody == Data("kept".utf8))
    }

    @Test func `the JSON encoder makes the body`() throws {
        var made = request { $0.setValue("text/x", forHTTPHeaderField: "content-type") }
        try JSONParameterEncoder.encode(urlRequest: &made, with: ["b": [1, nil] as [Int?], "a": "é"])
        #expect(made.httpBody == Data(#"{"a":"é","b":[1,null]}"#.utf8))
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "text/x")
        made = request()
        try JSONParameterEncoder.encode(urlRequest: &made, with: [:])
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test func `the encoders throw the tutorial's errors`() {
        expectTutorialErrors(of: URLParameterEncoder.self)
        expectTutorialErrors(of: JSONParameterEncoder.self)
    }

    private func expectTutorialErrors(of encoder: any ParameterEncoder.Type) {
        func attempt(_ request: URLRequest, _ parameters: Parameters) -> String {
            var made = request
            do {
                try encoder.encode(urlRequest: &made, with: parameters)
                return "nothing"
            } catch NetworkError.missingURL {
                #expect(made == request)
                return "missingURL"
            } catch NetworkError.encodingFailed {
                #expect(made == request)
                return "encodingFailed"
            } catch {
                return "\(error)"
            }
        }
        #expect(attempt(request { $0.url = nil }, ["a": 1]) == "missingURL")
        #expect(attempt(request(), ["a": NSObject()]) == "encodingFailed")
        #expect(attempt(request(), ["a": Double.nan]) == "encodingFailed")
        #expect(attempt(request(), ["a": 1]) == "nothing")
    }
}
