import Foundation
import NetworkLayer
import TestSupport
import Testing

@Suite(.enabled(if: Peers.httpbin != nil, Peers.absence(of: Peers.httpbinVariable)))
struct HttpbinTests {
    private func ask(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        params: [String: ParameterValue]? = nil,
        headers: [String: String] = [:],
        over kind: TransportKind
    ) async throws -> HttpbinEcho {
        let base = try #require(Peers.httpbin)
        let request = RequestData(path: base + path, method: method, parameters: params, headerFields: headers)
        return try await Peers.client(over: kind).send(Ask(data: request)).body
    }

    private func get(_ path: String, over kind: TransportKind) async throws -> NetworkResponse<Data> {
        let base = try #require(Peers.httpbin)
        return try await Peers.client(over: kind).send(RequestData(path: base + path), as: .data)
    }

    @Test(arguments: TransportKind.allCases)
    func `GET puts its parameters in the query`(kind: TransportKind) async throws {
        let echo = try await ask(
            "/get?fixed=yes",
            params: ["page": 1, "q": nil, "tags": ["a", "b"], "nested": ["deep": true]],
            over: kind
        )
        #expect(
            echo.args == [
                "fixed": .one("yes"), "page": .one("1"), "tags": .many(["a", "b"]), "nested[deep]": .one("true"),
            ]
        )
        #expect(echo.headers?["Content-Type"] == nil)
    }

    @Test(arguments: TransportKind.allCases, [HTTPRequest.Method.post, .put, .patch])
    func `a body of JSON arrives with its type and length`(kind: TransportKind, method: HTTPRequest.Method) async throws
    {
        let echo = try await ask(
            "/\(method.rawValue.lowercased())",
            method,
            params: ["page": 1, "title": "größer ✓", "tags": ["a"], "nested": ["deep": [true, false]]],
            over: kind
        )
        let note = HttpbinEcho.Note(page: 1, title: "größer ✓", tags: ["a"], nested: ["deep": [true, false]])
        #expect(echo.json == note)
        #expect(echo.headers?["Content-Type"] == "application/json")
        #expect(echo.headers?["Content-Length"] == "\(try #require(echo.data).utf8.count)")
        #expect(echo.headers?["Transfer-Encoding"] == nil)
    }

    @Test(arguments: TransportKind.allCases)
    func `form fields arrive with their values intact`(kind: TransportKind) async throws {
        let base = try #require(Peers.httpbin)
        let texts = ["+ & = % ~ *", "größer ✓ \u{1F600}", "\"quoted\" \\ back", "two\r\nlines"]
        let client = Peers.client(over: kind)
        let fields = Dictionary(uniqueKeysWithValues: texts.map { ($0, ParameterValue.string("=" + $0)) })
        let form = RequestData(path: base + "/post", method: .post, content: .form(fields))
        let read = try await client.send(Ask(data: form)).body
        #expect(read.form == Dictionary(uniqueKeysWithValues: texts.map { ($0, .one("=" + $0)) }))

        let parts: [MultipartPart] = [
            .field("größer ✓", texts.joined()), .field("n", "1"), .field("n", "2"),
            .bytes("file \"a\"", Data("contents".utf8), fileName: "a;b=\"c\".txt", contentType: "text/plain"),
        ]
        let multipart = RequestData(path: base + "/post", method: .post, content: .multipart(parts))
        let parsed = try await client.send(Ask(data: multipart)).body
        #expect(parsed.form == ["größer ✓": .one(texts.joined()), "n": .many(["1", "2"])])
        #expect(parsed.files == ["file \"a\"": "contents"])
    }

    @Test(arguments: TransportKind.allCases)
    func `DELETE puts its parameters in the query and has no body`(kind: TransportKind) async throws {
        let echo = try await ask("/delete", .delete, params: ["id": 7], over: kind)
        #expect(echo.args == ["id": .one("7")])
        #expect(echo.data == "")
    }

    @Test(arguments: TransportKind.allCases, [204, 404, 418, 500, 503])
    func `a status arrives as the server gave it`(kind: TransportKind, status: Int) async throws {
        let path = try #require(Peers.httpbin) + "/status/\(status)"
        let response = try await kind.transport.send(RequestData(path: path).transportRequest())
        #expect(response.head.status.code == status)
    }

    @Test(arguments: TransportKind.allCases)
    func `a 418 response is an error that carries its body`(kind: TransportKind) async throws {
        let error = await expectFailure(.unacceptableStatus) { try await get("/status/418", over: kind) }
        let answer = try #require(error?.response)
        #expect(answer.status.code == 418)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("teapot"))
    }

    @Test(arguments: TransportKind.allCases)
    func `a redirect that is not followed is a response with its Location`(kind: TransportKind) async throws {
        let path = try #require(Peers.httpbin) + "/redirect-to?url=/get&status_code=307"
        let response = try await kind.transport.send(RequestData(path: path).transportRequest())
        #expect(response.head.status == .temporaryRedirect)
        #expect(response.head.headerFields[.location] == "/get")
    }

    @Test(arguments: TransportKind.allCases)
    func `header fields are sent, and the library adds the usual ones`(kind: TransportKind) async throws {
        let sent = ["X-Api-Key": "k 1", "X-Latin": "plain"]
        let received = try #require(try await ask("/headers", headers: sent, over: kind).headers)
        #expect(received["X-Api-Key"] == "k 1")
        #expect(received["X-Latin"] == "plain")
        #expect(received["Accept"] == "application/json")
        #expect(received["Accept-Encoding"] == "gzip, deflate")
        #expect(received["User-Agent"] == TransportRequest.userAgent)
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
        #expect(response.body.count == count)
        #expect(response.headerFields[.contentLength] == "\(count)")
    }

    @Test(arguments: TransportKind.allCases)
    func `a chunked body arrives whole`(kind: TransportKind) async throws {
        let response = try await get("/stream-bytes/100000?chunk_size=1000", over: kind)
        #expect(response.body.count == 100_000)
        #expect(response.headerFields[.contentLength] == nil)
    }

    @Test(arguments: TransportKind.allCases)
    func `repeated response header fields keep their values and order`(kind: TransportKind) async throws {
        let fields = try await get("/response-headers?X-Many=one&X-Many=two", over: kind).headerFields
        // URLSession delivers one joined field; `exact response header fields` is a capability of curl.
        let values = fields[values: HTTPField.Name("X-Many")!].flatMap { $0.components(separatedBy: ", ") }
        #expect(values == ["one", "two"])
        if kind.transport.capabilities.supports(.exactResponseFields) {
            #expect(fields[values: HTTPField.Name("X-Many")!].count == 2)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `a call to a slow server ends with the total timeout`(kind: TransportKind) async throws {
        var client = Peers.client(over: kind)
        client.options.totalTimeout = .milliseconds(300)
        let request = RequestData(path: try #require(Peers.httpbin) + "/delay/3")
        await expectFailure(.totalTimeout) { try await client.send(request, as: .data) }
    }

    @Test(arguments: TransportKind.allCases)
    func `Basic and Bearer are accepted`(kind: TransportKind) async throws {
        let base = try #require(Peers.httpbin)
        let basic = try await Exchange(RequestURL(base + "/basic-auth/me/pw"), over: kind.transport) {
            $0.authentication = .basic(user: "me", password: "pw")
        }
        #expect(basic.status == 200)
        let bearer = try await Exchange(RequestURL(base + "/bearer"), over: kind.transport) {
            $0.authentication = .bearer(token: "token")
        }
        #expect(bearer.status == 200)
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func `Digest is accepted, and refused with a wrong password`(algorithm: String) async throws {
        let url = try RequestURL(try #require(Peers.httpbin) + "/digest-auth/auth/me/pw/\(algorithm)")
        let good = try await Exchange(url) { $0.authentication = .digest(user: "me", password: "pw") }
        #expect(good.status == 200)
        #expect(good.text.contains(#""authenticated": true"#) || good.text.contains(#""authenticated":true"#))
        let bad = try await Exchange(url) { $0.authentication = .digest(user: "me", password: "wrong") }
        #expect(bad.status == 401)
        let any = try await Exchange(url) { $0.authentication = .anySafe(user: "me", password: "pw") }
        #expect(any.status == 200)
    }

    @Test(arguments: TransportKind.allCases)
    func `parameters of every script survive in the query`(kind: TransportKind) async throws {
        let texts = ["köln": "größer ✓", "日本": "語 と 空白", "sign": "a+b&c=d;e%f#g", "emoji": "👩‍👩‍👧", "empty": ""]
        let echo = try await ask("/anything", params: texts.mapValues(ParameterValue.string), over: kind)
        #expect(echo.args == texts.mapValues(HttpbinEcho.OneOrMany.one))
        #expect(echo.method == "GET")
    }
}
