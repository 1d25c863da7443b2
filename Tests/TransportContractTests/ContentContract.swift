import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ContentContract {
    /// Posts the content. For a transport without streamed request bodies, it is collected first.
    private func post(_ content: RequestContent, over transport: ContractTransport) async throws -> ReceivedRequest {
        try await withServer(.ok("{}")) { server in
            let data = RequestData(path: "p", baseURL: server.baseURL + "/v1/", method: .post, content: content)
            _ = try await transport.client.send(data, as: .data)
            #expect(server.requests.first?.target == "/v1/p")
            return try #require(server.requests.first)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `encoded content arrives with its type`(transport: ContractTransport) async throws {
        let cases: [(RequestContent, String?, String)] = [
            (.json(["b": "é/", "a": "1"]), "application/json", #"{"a":"1","b":"é/"}"#),
            (.form(["q": "a b&c", "n": [1, 2]]), "application/x-www-form-urlencoded", "n=1&n=2&q=a+b%26c"),
            (.text("é"), "text/plain; charset=utf-8", "é"),
            (.bytes(Data("x".utf8), contentType: nil), nil, "x"),
            (
                .multipart([.field("a", "1")]) { "b" }, "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n"
            ),
        ]
        for (content, type, body) in cases {
            let request = try await post(content, over: transport)
            #expect(request.values(of: "Content-Type") == (type.map { [$0] } ?? []))
            #expect(request.values(of: "Content-Length") == ["\(body.utf8.count)"])
            #expect(String(decoding: request.body, as: UTF8.self) == body)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a multipart body of files has its length`(transport: ContractTransport) async throws {
        let bytes = PatternBytes.make(count: 200_000)
        let path = NSTemporaryDirectory() + "content-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try bytes.write(to: URL(filePath: path))
        let content = RequestContent.multipart([.field("a", "1"), .file("f", path: path, fileName: "f.bin")]) { "b" }
        let request = try await post(content, over: transport)
        #expect(request.values(of: "Content-Length") == ["\(request.body.count)"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
        #expect(request.body.range(of: bytes) != nil)
        #expect(request.body.suffix(9) == Data("\r\n--b--\r\n".utf8))
    }

    @Test(arguments: ContractTransport.all)
    func `a multipart body of unknown length arrives whole`(transport: ContractTransport) async throws {
        let chunks = Array(repeating: PatternBytes.make(count: 10_000), count: 5)
        let request = try await post(.multipart([.stream("s", AsyncStream.of(chunks))]) { "b" }, over: transport)
        let head = "--b\r\nContent-Disposition: form-data; name=\"s\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        #expect(request.body == Data(head.utf8) + chunks.reduce(Data(), +) + Data("\r\n--b--\r\n".utf8))
    }

    @Test(arguments: ContractTransport.all)
    func `a failing part is the caller's error`(transport: ContractTransport) async throws {
        struct Broken: Error, Equatable {}
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("some".utf8))
            continuation.finish(throwing: Broken())
        }
        await #expect(throws: Broken()) { try await post(.multipart([.stream("s", chunks)]), over: transport) }
    }
}

@Suite(.patience(minutes: 1))
struct ParameterContract {
    private func target(
        _ transport: ContractTransport, _ path: String, _ params: [String: ParameterValue],
        method: HTTPRequest.Method = .get
    ) async throws -> ReceivedRequest {
        try await withServer(.ok("{}")) { server in
            let data = RequestData(path: server.url(path), method: method, parameters: params)
            _ = try await transport.transport.send(data, as: .data)
            return try #require(server.requests.first)
        }
    }

    @Test(arguments: ContractTransport.all, [HTTPRequest.Method.get, .head, .delete])
    func `parameters are the query`(transport: ContractTransport, method: HTTPRequest.Method) async throws {
        let params: [String: ParameterValue] = ["page": 1, "q": nil, "tags": ["a", "b"], "nested": ["x": ["y": true]]]
        let request = try await target(transport, "/p", params, method: method)
        #expect(request.target == "/p?nested%5Bx%5D%5By%5D=true&page=1&tags=a&tags=b")
        #expect(request.body.isEmpty)
    }

    @Test(arguments: ContractTransport.all)
    func `a query in the path is kept`(transport: ContractTransport) async throws {
        let request = try await target(transport, "/p?z=%20[1]|2&z=+#part", ["a": 1])
        #expect(request.target == "/p?z=%20%5B1%5D%7C2&z=+&a=1")
    }

    @Test(arguments: ContractTransport.all)
    func `any text comes back the same`(transport: ContractTransport) async throws {
        let text = "+ & = % ? # / \\ \" ' ; , : @ [ ] { } | ^ ` ~ <é日本\u{1F600}>\t\r\n\u{0}"
        let request = try await target(transport, "/p", ["q": .string(text)])
        let query = try #require(request.target.split(separator: "?").last)
        #expect(query.dropFirst(2).removingPercentEncoding == text)
    }

    @Test(arguments: ContractTransport.all)
    func `a path outside ASCII is percent-encoded once`(transport: ContractTransport) async throws {
        #expect(try await target(transport, "/né/%2F/a b", [:]).target == "/n%C3%A9/%2F/a%20b")
    }

    @Test(arguments: ContractTransport.all, [HTTPRequest.Method.post, .put, .patch])
    func `parameters are a JSON body`(transport: ContractTransport, method: HTTPRequest.Method) async throws {
        let params: [String: ParameterValue] = ["b": [1, 2.5, "é/"], "a": nil, "c": ["t": true]]
        let request = try await target(transport, "/p?z=1", params, method: method)
        #expect(request.target == "/p?z=1")
        #expect(request.values(of: "Content-Type") == ["application/json"])
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"a":null,"b":[1,2.5,"é/"],"c":{"t":true}}"#)
    }
}
