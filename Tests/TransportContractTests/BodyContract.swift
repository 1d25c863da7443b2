import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct BodyContract {
    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 1 << 20, 8 << 20]

    @Test(arguments: ContractTransport.all, sizes)
    func `a body is the same both ways`(transport: ContractTransport, size: Int) async throws {
        let sent = PatternBytes.make(count: size)
        let returned = PatternBytes.make(count: size, from: 7)
        let server = try ScriptedServer(.response(body: returned))
        defer { server.stop() }
        let answer = try await transport.send(.post, server.url(), body: sent)
        #expect(answer.body == returned)
        #expect(answer.metrics.responseBodyBytes == nil || answer.metrics.responseBodyBytes == size)
        #expect(server.requests.map { $0.body == sent } == [true])
    }

    /// All use one connection and one handle: nothing of one request may remain for the next.
    @Test(arguments: ContractTransport.all)
    func `requests after one another each get their own response`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let requests: [(method: HTTPRequest.Method, target: String, body: Data?)] = [
            (.post, "/a?b=1", PatternBytes.make(count: 10)), (.post, "/a?b=1", PatternBytes.make(count: 3, from: 5)),
            (.post, "/c?", Data()), (.post, "/a", PatternBytes.make(count: 16_384)),
            (.post, "/a", PatternBytes.make(count: 16_385, from: 9)), (.post, "/d", PatternBytes.make(count: 200_000)),
            (.post, "/d", PatternBytes.make(count: 70_000, from: 3)), (.get, "/a?b=1", nil), (.get, "/?", nil),
            (.get, "/e", nil), (.put, "/e", PatternBytes.make(count: 5)), (.delete, "/e", nil),
            (.get, "/", nil), (.post, "/", nil), (.post, "/", PatternBytes.make(count: 1)), (.get, "/", nil),
        ]
        for (method, target, body) in requests {
            _ = try await transport.send(method, server.url(target), body: body)
        }
        let seen = server.requests
        #expect(seen.map(\.method) == requests.map(\.method.rawValue))
        // From 8.8 on, libcurl omits the '?' of an empty query, under either transport.
        func target(_ text: String) -> String { text.hasSuffix("?") ? String(text.dropLast()) : text }
        #expect(seen.map { target($0.target) } == requests.map { target($0.target) })
        #expect(seen.map { $0.body.count } == requests.map { $0.body?.count ?? 0 })
        #expect(zip(seen, requests).allSatisfy { $0.body == $1.body ?? Data() })
    }

    /// Over curl, many of them get their response in the same round of the loop.
    @Test(arguments: ContractTransport.all)
    func `responses at the same time are each their own`(transport: ContractTransport) async throws {
        let url = try await Demo.url("/echo")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<32 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<10 {
                        let text = "request \(number) of round \(round)"
                        let answer = try await transport.send(.post, url, body: Data(text.utf8))
                        // The JSON contains the bytes in Base64.
                        if !answer.text.contains(Data(text.utf8).base64EncodedString()) { wrong += 1 }
                    }
                    return wrong
                }
            }
            for try await wrong in group { #expect(wrong == 0) }
        }
    }

    private struct ProducerFault: Error, Equatable {}

    /// A server that has got all announced bytes would take a wrong body for the right one.
    @Test(arguments: ContractTransport.all, [5, 16_384, 65_536, 300_000])
    func `a stream with another length than announced fails`(transport: ContractTransport, length: Int) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let body = PatternBytes.make(count: length)
        let surplus: [[Data]] = [
            [body + [1]], [body, Data([1])], [body, Data(), Data([1])], [body, body], [body.dropLast()], [],
        ]
        for chunks in surplus {
            let stream = TransportRequest.Body.stream(
                AsyncStream<Data> { stream in
                    for chunk in chunks { stream.yield(chunk) }
                    stream.finish()
                }, length: length)
            await expectFailure(.bodyLengthMismatch) {
                try await transport.client.send(transport.request(.post, server.url(), body: stream), as: .data)
            }
        }
        let failing = TransportRequest.Body.stream(
            AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(body)
                stream.finish(throwing: ProducerFault())
            }, length: length)
        await #expect(throws: ProducerFault()) {
            try await transport.client.send(transport.request(.post, server.url(), body: failing), as: .data)
        }
        #expect(!server.requests.contains { $0.body == body })
        let whole = AsyncStream<Data> { stream in
            for chunk in [body.prefix(1), body.dropFirst()] { stream.yield(chunk) }
            stream.finish()
        }
        let request = try transport.request(.post, server.url(), body: .stream(whole, length: length))
        #expect(try await transport.client.send(request, as: .text).body == "x")
        #expect(server.requests.last?.body == body)
    }

    /// Regression: the second request failed as one whose connection was lost.
    @Test(arguments: ContractTransport.all)
    func `a one-time body is one request's`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let once = AsyncStream<Data> { stream in
            stream.yield(Data("once".utf8))
            stream.finish()
        }
        let request = try transport.request(.post, server.url(), body: .stream(once))
        #expect(try await transport.client.send(request, as: .text).body == "x")
        let error = await expectFailure(.bodyAlreadyRead) { try await transport.client.send(request, as: .text) }
        #expect(error?.message.contains(".replayableStream") == true)
        #expect(server.requests.count { !$0.body.isEmpty } == 1)
        await expectFailure(.bodyAlreadyRead) { try await request.body?.collect(upTo: 10) }
    }

    private struct Peeking: Interceptor {
        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            let response = try await next(request)
            _ = try await response.body.collect()
            return response
        }
    }

    /// Regression: the second reading got an empty body, and the call an error about missing data.
    @Test(arguments: ContractTransport.all)
    func `a response's body is read once`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.response(body: PatternBytes.make(count: 100_000)))
        defer { server.stop() }
        let collected = try await transport.start(.get, server.url())
        #expect(try await collected.body.collect().count == 100_000)
        await expectFailure(.bodyAlreadyRead) { try await collected.body.collect() }
        let iterated = try await transport.start(.get, server.url())
        var chunks = iterated.body.makeAsyncIterator()
        while try await chunks.next() != nil {}
        #expect(try await chunks.next() == nil)
        await expectFailure(.bodyAlreadyRead) { for try await _ in iterated.body {} }
        await expectFailure(.bodyAlreadyRead) { try await iterated.body.collect() }
        // An empty rest is read once too.
        let small = try ScriptedServer(.response(body: Data("x".utf8)))
        defer { small.stop() }
        let peeked = try await transport.start(.get, small.url())
        var only = peeked.body.makeAsyncIterator()
        #expect(try await only.next() == Data("x".utf8))
        #expect(try await peeked.body.collect().isEmpty)
        await expectFailure(.bodyAlreadyRead) { try await peeked.body.collect() }
        // The rest belongs to the next reader.
        let shared = try await transport.start(.get, server.url())
        var first = shared.body.makeAsyncIterator()
        let start = try #require(try await first.next()).count
        #expect(try await shared.body.collect().count == 100_000 - start)
    }

    @Test(arguments: ContractTransport.all)
    func `an interceptor that reads a body returns the bytes`(transport: ContractTransport) async throws {
        var client = transport.client
        client.interceptors.append(Peeking())
        for (status, code) in [(200, NetworkError.Code.bodyAlreadyRead), (503, .unacceptableStatus)] {
            let server = try ScriptedServer(.response(status, body: Data("x".utf8)))
            defer { server.stop() }
            let request = try transport.request(.get, server.url())
            let error = await expectFailure(code) { try await client.send(request, as: .data) }
            #expect(error?.message.contains("interceptor") == (status == 200))
        }
        // Nothing is lost of an empty one.
        let server = try ScriptedServer(.response(body: Data()))
        defer { server.stop() }
        #expect(try await client.send(try transport.request(.get, server.url()), as: .data).body.isEmpty)
    }

    /// The file was measured before, and has grown since.
    @Test(arguments: ContractTransport.all, [5, 16_384, 65_536, 300_000])
    func `a file that has grown is not sent in part`(transport: ContractTransport, length: Int) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let path = FileManager.default.temporaryDirectory.appending(path: "grown-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try PatternBytes.make(count: length).write(to: URL(filePath: path))
        let request = try transport.request(.post, server.url(), body: .file(path))
        try PatternBytes.make(count: length + 1).write(to: URL(filePath: path))
        await expectFailure(.bodyLengthMismatch) { try await transport.client.send(request, as: .data) }
    }

    @Test(arguments: ContractTransport.all)
    func `a chunked body is put together`(transport: ContractTransport) async throws {
        let chunks = [PatternBytes.make(count: 1), PatternBytes.make(count: 70_000), PatternBytes.make(count: 10)]
        var text = Script.head(200, fields: [("Transfer-Encoding", "chunked")])
        for chunk in chunks {
            text += Data("\(String(chunk.count, radix: 16));extension=1\r\n".utf8) + chunk + Data("\r\n".utf8)
        }
        text += Data("0\r\n\r\n".utf8)
        let server = try ScriptedServer([.forEachRequest([.send(text)])])
        defer { server.stop() }
        for _ in 0..<2 {
            #expect(try await transport.send(.get, server.url()).body == chunks.reduce(Data(), +))
        }
        try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
    }

    @Test(arguments: ContractTransport.all)
    func `a body until the close is whole`(transport: ContractTransport) async throws {
        let body = PatternBytes.make(count: 100_000)
        let server = try ScriptedServer(.raw(Script.head(200, fields: [("Connection", "close")]) + body))
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).body == body)
    }

    @Test(arguments: ContractTransport.all)
    func `bytes after the body are not part of it`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"))
        defer { server.stop() }
        #expect(try await transport.send(.get, server.url()).text == "abc")
    }

    @Test(arguments: ContractTransport.all)
    func `the demo server measures the upload`(transport: ContractTransport) async throws {
        let body = PatternBytes.make(count: 3_000_000)
        let answer = try await transport.send(.put, try await Demo.url("/upload"), body: body)
        #expect(answer.text == #"{"bytes":3000000,"sha256":"\#(SHA256Checksum.digest(body).hexadecimal)"}"#)
    }

    @Test(arguments: ContractTransport.all)
    func `the demo server serves the pattern`(transport: ContractTransport) async throws {
        let answer = try await transport.send(.get, try await Demo.url("/bytes/300000"))
        #expect(answer.body == PatternBytes.make(count: 300_000))
    }
}
