import Foundation
import NetworkLayer
import TestSupport
import Testing

@Suite(.enabled(if: Peers.httpbin != nil, Peers.absence(of: Peers.httpbinVariable)))
struct HttpbinTests {
    private static func url(_ path: String) throws -> String { try #require(Peers.httpbin) + path }

    private func ask(
        _ path: String, _ method: HTTPRequest.Method = .get, params: [String: ParameterValue]? = nil,
        content: RequestContent? = nil, headers: [String: String] = [:], over kind: TransportKind
    ) async throws -> HttpbinEcho {
        var data = RequestData(
            path: try Self.url(path), method: method, parameters: params, headerFields: headers)
        if let content { data.content = content }
        return try await Peers.client(over: kind).send(data, as: HttpbinEcho.self).body
    }

    private func get(_ path: String, over kind: TransportKind) async throws -> NetworkResponse<Data> {
        try await Peers.client(over: kind).send(RequestData(path: Self.url(path)), as: .data)
    }

    @Test(arguments: TransportKind.allCases)
    func `GET puts its parameters in the query`(kind: TransportKind) async throws {
        let params: [String: ParameterValue] = ["page": 1, "q": nil, "tags": ["a", "b"], "nested": ["deep": true]]
        let echo = try await ask("/get?fixed=yes", params: params, over: kind)
        #expect(echo.args == ["fixed": ["yes"], "page": ["1"], "tags": ["a", "b"], "nested[deep]": ["true"]])
        #expect(echo.headers?["Content-Type"] == nil)
    }

    @Test(arguments: TransportKind.allCases, [HTTPRequest.Method.post, .put, .patch])
    func `a body of JSON arrives with its type and length`(kind: TransportKind, method: HTTPRequest.Method) async throws
    {
        let params: [String: ParameterValue] = [
            "page": 1, "title": "größer ✓", "tags": ["a"], "nested": ["deep": [true, false]],
        ]
        let echo = try await ask("/\(method.rawValue.lowercased())", method, params: params, over: kind)
        let note = HttpbinEcho.Note(page: 1, title: "größer ✓", tags: ["a"], nested: ["deep": [true, false]])
        #expect(echo.json == note)
        #expect(echo.headers?["Content-Type"] == "application/json")
        #expect(echo.headers?["Content-Length"] == "\(try #require(echo.data).utf8.count)")
        #expect(echo.headers?["Transfer-Encoding"] == nil)
    }

    @Test(arguments: TransportKind.allCases)
    func `form fields arrive with their values intact`(kind: TransportKind) async throws {
        let texts = ["+ & = % ~ *", "größer ✓ \u{1F600}", "\"quoted\" \\ back", "two\r\nlines"]
        let fields = Dictionary(uniqueKeysWithValues: texts.map { ($0, ParameterValue.string("=" + $0)) })
        let read = try await ask("/post", .post, content: .form(fields), over: kind)
        #expect(read.form == Dictionary(uniqueKeysWithValues: texts.map { ($0, ["=" + $0]) }))

        let parts: [MultipartPart] = [
            .field("größer ✓", texts.joined()), .field("n", "1"), .field("n", "2"),
            .bytes("file \"a\"", Data("contents".utf8), fileName: "a;b=\"c\".txt", contentType: "text/plain"),
        ]
        let parsed = try await ask("/post", .post, content: .multipart(parts), over: kind)
        #expect(parsed.form == ["größer ✓": [texts.joined()], "n": ["1", "2"]])
        #expect(parsed.files == ["file \"a\"": "contents"])
    }

    @Test(arguments: TransportKind.allCases)
    func `DELETE puts its parameters in the query and has no body`(kind: TransportKind) async throws {
        let echo = try await ask("/delete", .delete, params: ["id": 7], over: kind)
        #expect(echo.args == ["id": ["7"]] && echo.data == "")
    }

    @Test(arguments: TransportKind.allCases, [204, 404, 418, 500, 503])
    func `a status arrives as the server gave it`(kind: TransportKind, status: Int) async throws {
        let exchange = try await Exchange(RequestURL(Self.url("/status/\(status)")), over: kind.transport)
        #expect(exchange.status == status)
        guard status == 418 else { return }
        let error = await expectFailure(.unacceptableStatus) { try await get("/status/418", over: kind) }
        let answer = try #require(error?.response)
        #expect(answer.status.code == 418)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("teapot"))
    }

    @Test(arguments: TransportKind.allCases)
    func `a redirect that is not followed is a response with its Location`(kind: TransportKind) async throws {
        let url = try Self.url("/redirect-to?url=/get&status_code=307")
        let response = try await kind.transport.send(RequestData(path: url).transportRequest())
        #expect(response.head.status == .temporaryRedirect)
        #expect(response.head.headerFields[.location] == "/get")
    }

    @Test(arguments: TransportKind.allCases)
    func `header fields are sent, and the library adds the usual ones`(kind: TransportKind) async throws {
        let sent = ["X-Api-Key": "k 1", "X-Latin": "plain"]
        let received = try #require(try await ask("/headers", headers: sent, over: kind).headers)
        let usual = [
            "Accept": "application/json", "Accept-Encoding": "gzip, deflate", "User-Agent": TransportRequest.userAgent,
        ]
        for (name, value) in sent.merging(usual, uniquingKeysWith: { $1 }) { #expect(received[name] == value) }
        #expect(received["Expect"] == nil)
    }

    @Test(arguments: TransportKind.allCases)
    func `gzip and deflate bodies are decompressed`(kind: TransportKind) async throws {
        #expect(try await ask("/gzip", over: kind).gzipped == true)
        #expect(try await ask("/deflate", over: kind).deflated == true)
    }

    @Test(arguments: TransportKind.allCases, [0, 1, 1000, 102_400])
    func `all bytes arrive`(kind: TransportKind, count: Int) async throws {
        let response = try await get("/bytes/\(count)", over: kind)
        #expect(response.body.count == count && response.headerFields[.contentLength] == "\(count)")
    }

    @Test(arguments: TransportKind.allCases)
    func `a chunked body arrives whole`(kind: TransportKind) async throws {
        let response = try await get("/stream-bytes/100000?chunk_size=1000", over: kind)
        #expect(response.body.count == 100_000 && response.headerFields[.contentLength] == nil)
    }

    @Test(arguments: TransportKind.allCases)
    func `repeated response header fields keep their values and order`(kind: TransportKind) async throws {
        let fields = try await get("/response-headers?X-Many=one&X-Many=two", over: kind).headerFields
        // URLSession delivers one joined field; `exact response header fields` is a capability of curl.
        let values = fields[values: HTTPField.Name("X-Many")!]
        #expect(values.flatMap { $0.components(separatedBy: ", ") } == ["one", "two"])
        if kind.transport.capabilities.supports(.exactResponseFields) { #expect(values.count == 2) }
    }

    @Test(arguments: TransportKind.allCases)
    func `a call to a slow server ends with the total timeout`(kind: TransportKind) async throws {
        let client = Peers.client(over: kind).with { $0.options.totalTimeout = .milliseconds(300) }
        let request = RequestData(path: try Self.url("/delay/3"))
        await expectFailure(.totalTimeout) { try await client.send(request, as: .data) }
    }

    @Test(
        arguments: TransportKind.allCases,
        [("/basic-auth/me/pw", .basic(user: "me", password: "pw")), ("/bearer", .bearer(token: "token"))]
            as [(String, TransportOptions.Authentication)])
    func `Basic and Bearer are accepted`(
        kind: TransportKind, way: (path: String, authentication: TransportOptions.Authentication)
    ) async throws {
        let exchange = try await Exchange(RequestURL(Self.url(way.path)), over: kind.transport) {
            $0.authentication = way.authentication
        }
        #expect(exchange.status == 200)
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func `Digest is accepted, and refused with a wrong password`(algorithm: String) async throws {
        func exchange(_ authentication: TransportOptions.Authentication) async throws -> Exchange {
            try await Exchange(RequestURL(Self.url("/digest-auth/auth/me/pw/\(algorithm)"))) {
                $0.authentication = authentication
            }
        }
        let good = try await exchange(.digest(user: "me", password: "pw"))
        #expect(good.status == 200 && good.text.replacing(" ", with: "").contains(#""authenticated":true"#))
        #expect(try await exchange(.digest(user: "me", password: "wrong")).status == 401)
        #expect(try await exchange(.anySafe(user: "me", password: "pw")).status == 200)
    }

    @Test(arguments: TransportKind.allCases)
    func `parameters of every script survive in the query`(kind: TransportKind) async throws {
        let texts = ["köln": "größer ✓", "日本": "語 と 空白", "sign": "a+b&c=d;e%f#g", "emoji": "👩‍👩‍👧", "empty": ""]
        let echo = try await ask("/anything", params: texts.mapValues(ParameterValue.string), over: kind)
        #expect(echo.args == texts.mapValues { [$0] })
        #expect(echo.method == "GET")
    }
}

/// The parts of httpbin's echo responses that the tests check.
private struct HttpbinEcho: Decodable {
    /// The query.
    @OneOrMany var args: [String: [String]]?
    var headers: [String: String]?
    /// The body as JSON.
    var json: Note?
    /// The body as text.
    var data: String?
    /// The fields of a form.
    @OneOrMany var form: [String: [String]]?
    /// The files of a form.
    var files: [String: String]?
    var method: String?
    var gzipped: Bool?
    var deflated: Bool?

    /// The JSON that the tests send.
    struct Note: Codable, Equatable {
        var page: Int?
        var title: String?
        var tags: [String]?
        var nested: [String: [Bool]]?
    }
}

/// Values of which each is a text, or a list if its name was repeated.
@propertyWrapper
private struct OneOrMany: Decodable {
    private enum Value: Decodable {
        case texts([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let one = try? container.decode(String.self)
            self = .texts(try one.map { [$0] } ?? container.decode([String].self))
        }
    }

    var wrappedValue: [String: [String]]?

    init(wrappedValue: [String: [String]]?) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: Value].self)
        wrappedValue = values.mapValues { value in
            switch value {
            case .texts(let texts): texts
            }
        }
    }
}

extension KeyedDecodingContainer {
    fileprivate func decode(_ type: OneOrMany.Type, forKey key: Key) throws -> OneOrMany {
        try decodeIfPresent(type, forKey: key) ?? OneOrMany(wrappedValue: nil)
    }
}
