import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ContentContract {
    /// Posts the content. For a transport without streamed request bodies, it is collected first.
    private func post(_ content: RequestContent, over transport: ContractTransport) async throws -> ReceivedRequest {
        let server = try ScriptedServer(.ok("{}"))
        defer { server.stop() }
        var client = NetworkClient(transport: transport.transport)
        client.options.totalTimeout = .seconds(30)
        let data = RequestData(path: "p", baseURL: server.baseURL + "/v1/", method: .post, content: content)
        _ = try await client.send(data, as: .data)
        let request = try #require(server.requests.first)
        #expect(request.target == "/v1/p")
        return request
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
        try bytes.write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let content = RequestContent.multipart([.field("a", "1"), .file("f", path: path, fileName: "f.bin")]) { "b" }
        let request = try await post(content, over: transport)
        #expect(request.values(of: "Content-Length") == ["\(request.body.count)"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
        #expect(request.body.range(of: bytes) != nil)
        #expect(request.body.suffix(9) == Data("\r\n--b--\r\n".utf8))
    }

    @Test(arguments: ContractTransport.all)
    func `a multipart body of unknown length arrives whole`(transport: ContractTransport) async throws {
        let chunks = AsyncStream<Data> { continuation in
            for _ in 0..<5 { continuation.yield(PatternBytes.make(count: 10_000)) }
            continuation.finish()
        }
        let request = try await post(.multipart([.stream("s", chunks)]) { "b" }, over: transport)
        let head = "--b\r\nContent-Disposition: form-data; name=\"s\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        let body = (0..<5).map { _ in PatternBytes.make(count: 10_000) }.reduce(Data(), +)
        #expect(request.body == Data(head.utf8) + body + Data("\r\n--b--\r\n".utf8))
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
