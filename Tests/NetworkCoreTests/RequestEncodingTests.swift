import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct RequestEncodingTests {
    private func query(_ params: [String: ParameterValue], path: String = "http://h/p") throws -> String? {
        try RequestData(path: path, parameters: params).transportRequest().url.query
    }

    @Test func `a query is sorted and percent-encoded`() throws {
        #expect(try query(["b": 2, "a": 1]) == "a=1&b=2")
        #expect(try query(["q": "a+b & c=d%\u{E9}/?"]) == "q=a%2Bb%20%26%20c%3Dd%25%C3%A9%2F%3F")
        #expect(try query(["a b": "x"]) == "a%20b=x")
        #expect(try query(["tags": ["b", "a"]]) == "tags=b&tags=a")
        #expect(try query(["n": ["b": ["c": 1], "a": [1, 2]]]) == "n%5Ba%5D=1&n%5Ba%5D=2&n%5Bb%5D%5Bc%5D=1")
        #expect(
            try query(["t": true, "f": false, "d": 2.5, "u": .unsigned(.max)]) == "d=2.5&f=false&t=true&u=\(UInt64.max)"
        )
    }

    @Test func `a query leaves nil out`() throws {
        #expect(try query(["q": nil]) == nil)
        #expect(try query(["q": nil, "a": 1, "l": [nil, 2]]) == "a=1&l=2")
        #expect(try query(["e": "", "l": []]) == "e=")
    }

    @Test func `a query is added to the one in the path`() throws {
        #expect(try query(["b": 2], path: "http://h/p?z=1") == "z=1&b=2")
        #expect(try query(["b": 2], path: "http://h/p?") == "b=2")
        #expect(try query([:], path: "http://h/p?z=1") == "z=1")
        #expect(try query(["q": nil], path: "http://h/p?z=1#f") == "z=1")
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .delete])
    func `parameters go into the query`(method: HTTPRequest.Method) throws {
        let request = try RequestData(path: "http://h/", method: method, parameters: ["a": 1]).transportRequest()
        #expect(request.url.query == "a=1")
        #expect(request.body == nil)
        #expect(request.headerFields.isEmpty)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .options])
    func `parameters are a JSON body`(method: HTTPRequest.Method) throws {
        let params: [String: ParameterValue] = ["b": [1, nil, "x/é"], "a": nil, "c": ["k": true]]
        let request = try RequestData(path: "http://h/", method: method, parameters: params).transportRequest()
        #expect(request.url.query == nil)
        #expect(request.headerFields[.contentType] == "application/json")
        #expect(request.body?.knownBytes == Data(#"{"a":null,"b":[1,null,"x/é"],"c":{"k":true}}"#.utf8))
    }

    private struct Note: Encodable, Sendable {
        let firstName: String
        let at: Date
    }

    @Test func `a value is encoded by the client's encoder, unless the request names its own`() async throws {
        let note = Note(firstName: "Ada", at: Date(timeIntervalSince1970: 1))
        let stub = StubTransport()
        stub.always(.any, .status(204))
        var client = NetworkClient(transport: stub, baseURL: "http://h")
        client.encoder = .json {
            $0.keyEncodingStrategy = .convertToSnakeCase
            $0.dateEncodingStrategy = .iso8601
        }
        let own = JSONRequestEncoder.standard
        own.dateEncodingStrategy = .secondsSince1970
        let contents: [RequestContent] = [
            .json(note), .json(note, encoder: own), .json(parameters: ["aB": 1]),
            .json(note).reportingProgress { _ in },
        ]
        for content in contents {
            _ = try await client.send(RequestData(path: "/n", method: .post, content: content), as: .data)
        }
        #expect(
            stub.sent.map(\.text) == [
                #"{"at":"1970-01-01T00:00:01Z","first_name":"Ada"}"#, #"{"at":1,"firstName":"Ada"}"#, #"{"aB":1}"#,
                #"{"at":"1970-01-01T00:00:01Z","first_name":"Ada"}"#,
            ])
        let plain = try RequestData(path: "http://h/", method: .post, content: .json(note)).transportRequest()
        #expect(plain.body?.knownBytes == Data(#"{"at":-978307199,"firstName":"Ada"}"#.utf8))
    }

    /// All requests of a client share its encoder, also at once.
    @Test func `nothing of one value reaches the body of another one`() async throws {
        let encoder = JSONRequestEncoder.json { $0.keyEncodingStrategy = .convertToSnakeCase }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let name = String(repeating: "\(number)-", count: number + 1)
                    let date = Date(timeIntervalSinceReferenceDate: Double(number))
                    // A value that can't be encoded leaves nothing behind either.
                    if number % 7 == 0 {
                        expectFailure(.invalidParameters) {
                            try RequestContent.json([name: Double.nan])
                                .encoded(by: encoder)
                        }
                    }
                    let encoded = try RequestContent.json(Note(firstName: name, at: date)).encoded(by: encoder)
                    let expected = #"{"at":\#(number),"first_name":"\#(name)"}"#
                    #expect(encoded.body.knownBytes == Data(expected.utf8))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `variables of any type are parameters with every initializer`() throws {
        let (page, name, missing) = (2, Optional("Ada"), Optional<String>.none)
        let requests = [
            RequestData(path: "/p", baseURL: "http://h", query: ["page": page, "name": name, "no": missing]),
            RequestData(url: "http://h/p", parameters: ["page": page, "name": name, "no": missing]),
            RequestData(
                path: "http://h/p", parameters: ["page": page, "name": name, "no": missing], content: .text("")),
        ]
        for request in requests { #expect(try request.transportRequest().url.query == "name=Ada&page=2") }
    }

    @Test(arguments: ["/users", "users", "users?token=x", "//h/users", ""])
    func `a path without a base is an error that says what is missing`(_ path: String) async throws {
        let client = NetworkClient(transport: StubTransport())
        let error = await expectFailure(.invalidURL) { try await client.send(RequestData(path: path), as: .data) }
        let words = path.isEmpty ? "it is empty" : "there is no base URL: set the client's `baseURL`"
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(error?.message.contains("token") != true)
    }

    @Test func `a content type of the caller stays`() throws {
        let data = RequestData(
            path: "http://h/", method: .post, parameters: [:], headerFields: ["content-type": "text/x"])
        let request = try data.transportRequest()
        #expect(request.headerFields[values: .contentType] == ["text/x"])
        #expect(request.body?.knownBytes == Data("{}".utf8))
    }

    @Test(
        arguments: [
            ("x", ParameterValue.double(.nan), "'x' is nan"),
            ("x", .double(.infinity), "'x' is inf"),
            ("list", .array([1, .double(.nan)]), "'list[1]' is nan"),
            ("o", ["a": ["b": .unencodable(type: "Date")]], "'o.a.b' has the type Date"),
        ] as [(String, ParameterValue, String)]
    )
    func `a parameter that can't be sent is named`(name: String, value: ParameterValue, message: String) throws {
        for method in [HTTPRequest.Method.get, .post] {
            let data = RequestData(path: "http://h/", method: method, parameters: [name: value])
            let error = try #require(throws: NetworkError.self) { try data.transportRequest() }
            #expect(error.code == .invalidParameters)
            #expect(error.message.contains(message), "\(error)")
        }
    }

    @Test(
        arguments: [
            ("", "x", "token"), ("a b", "x", "token"), ("a:b", "x", "token"), ("a\r\nb", "x", "token"),
            ("é", "x", "token"), ("X-A", "a\rb", "CR"), ("X-A", "a\nb", "LF"), ("X-A", "a\u{0}b", "NUL"),
            ("X-A", "a\r\nB: c", "at byte 1"), ("X-A", "\u{7F}", "0x7F"), ("X-A", "\u{1B}", "0x1B"),
            ("X-A", String(repeating: "v", count: 65_537), "65537"),
        ]
    )
    func `a bad header is refused by name`(name: String, value: String, message: String) throws {
        let data = RequestData(path: "http://h/", headerFields: [name: value])
        let error = try #require(throws: NetworkError.self) { try data.transportRequest() }
        #expect(error.code == .invalidHeaderField)
        #expect(error.message.contains(message), "\(error)")
        #expect(!error.description.contains("\r"))
    }

    @Test func `headers are taken as they are`() throws {
        let headers = ["X-Tab": "a\tb", "X-Padded": "  v \t", "X-Latin": "é", "X-Empty": "", "X-Space": " "]
        let fields = try RequestData(path: "http://h/", headerFields: headers).transportRequest().headerFields
        func value(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
        #expect(value("x-tab") == "a\tb")
        #expect(value("x-padded") == "v")
        #expect(value("x-latin") == "é")
        #expect(value("x-empty")?.isEmpty == true)
        #expect(value("x-space")?.isEmpty == true)
        expectFailure(.invalidHeaderField) {
            try RequestData(path: "http://h/", headerFields: ["A": "1", "a": "2"]).transportRequest()
        }
    }

    /// Regression: each value repeats the names above it, and the whole was put together before it was refused.
    @Test func `parameters that are too long when they are encoded are refused at little cost`() throws {
        let names = (0..<20_000).map { ParameterValue.int($0) }
        let wide: [String: ParameterValue] = [String(repeating: "k", count: 20_000): .array(names)]
        let short: [String: ParameterValue] = ["k": .array(names)]
        let most = cost(rounds: 2) { _ = try? RequestContent.form(short).encoded() }
        #expect(!costsMore(than: most * 10) { _ = try? query(wide) })
        expectFailure(.invalidURL) { try query(wide) }
        let json = RequestData(path: "http://h/", method: .post, parameters: wide)
        #expect(!costsMore(than: most * 10) { _ = try? json.transportRequest() })
        #expect(QueryEncoder.Limit.form.bytes == 64 << 20 && QueryEncoder.Limit.form.error.code == .invalidParameters)
        let bad = RequestData(
            path: "http://h/", method: .post, parameters: ["a": ["b": [1, ["c": .unencodable(type: "Date")]]]])
        let error = expectFailure(.invalidParameters) { try bad.transportRequest() }
        #expect(error?.message.contains("'a.b[1].c' has the type Date") == true)
    }

    @Test func `a method is a token`() {
        #expect(HTTPRequest.Method(rawValue: "GET") == .get)
        #expect(HTTPRequest.Method.patch.rawValue == "PATCH")
        for bad in ["", "GE T", "GET\r\n", "GÉT", "GET/"] {
            #expect(HTTPRequest.Method(rawValue: bad) == nil)
            expectFailure(.invalidMethod) { try HTTPRequest.Method(checking: bad) }
        }
    }

    @Test func `wire fields add those that the caller left out`() throws {
        var request = try TransportRequest(url: RequestURL("http://h/"))
        #expect(request.wireFields[.accept] == "*/*")
        #expect(request.wireFields[.userAgent] == TransportRequest.userAgent)
        #expect(request.wireFields[.acceptEncoding] == "gzip, deflate")
        request.options.decompress = false
        #expect(request.wireFields[.acceptEncoding] == "identity")
        request.headerFields = [.accept: "text/plain", .contentLength: "5", .transferEncoding: "chunked"]
        #expect(request.wireFields[values: .accept] == ["text/plain"])
        #expect(request.wireFields[.contentLength] == nil)
        #expect(request.wireFields[.transferEncoding] == nil)
    }
}
