import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct BodyContract {
    @Test(arguments: ContractTransport.all, [0, 1, 65_535, 65_536, 65_537, 1 << 20, 8 << 20])
    func `a body is the same both ways`(transport: ContractTransport, size: Int) async throws {
        let (sent, returned) = (PatternBytes.make(count: size), PatternBytes.make(count: size, from: 7))
        let answer = try await transport.send(.post, to: .response(body: returned), body: sent)
        #expect(answer.body == returned)
        #expect(answer.metrics.responseBodyBytes == nil || answer.metrics.responseBodyBytes == size)
        #expect(answer.requests.map { $0.body == sent } == [true])
    }

    /// All use one connection and one handle: nothing of one request may remain for the next.
    @Test(arguments: ContractTransport.all)
    func `requests after one another each get their own response`(transport: ContractTransport) async throws {
        let requests: [(method: HTTPRequest.Method, target: String, body: Data?)] = [
            (.post, "/a?b=1", PatternBytes.make(count: 10)), (.post, "/a?b=1", PatternBytes.make(count: 3, from: 5)),
            (.post, "/c?", Data()), (.post, "/a", PatternBytes.make(count: 16_384)),
            (.post, "/a", PatternBytes.make(count: 16_385, from: 9)), (.post, "/d", PatternBytes.make(count: 200_000)),
            (.post, "/d", PatternBytes.make(count: 70_000, from: 3)), (.get, "/a?b=1", nil), (.get, "/?", nil),
            (.get, "/e", nil), (.put, "/e", PatternBytes.make(count: 5)), (.delete, "/e", nil),
            (.get, "/", nil), (.post, "/", nil), (.post, "/", PatternBytes.make(count: 1)), (.get, "/", nil),
        ]
        try await withServer(.ok("x")) { server in
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
    }

    private struct Echo: Decodable {
        let query: String
        let bodyBase64: String
    }

    /// Over curl, many of them get their response in the same round of the loop.
    @Test(arguments: ContractTransport.all)
    func `responses at the same time are each their own`(transport: ContractTransport) async throws {
        let url = try await Demo.url("/echo")
        let wrong = try await atOnce(100) { number in
            try await (0..<4).asyncCount { round in
                let body = Data("request \(number) of round \(round)".utf8) + Data(count: number * 100)
                let answer = try await transport.send(.post, "\(url)?n=\(number)", body: body)
                let echo = try JSONDecoder().decode(Echo.self, from: answer.body)
                return echo.query != "n=\(number)" || echo.bodyBase64 != body.base64EncodedString()
            }
        }
        #expect(wrong.allSatisfy { $0 == 0 })
    }

    // MARK: Request bodies

    private struct ProducerFault: Error, Equatable {}

    /// A server that has got all announced bytes would take a wrong body for the right one.
    @Test(arguments: ContractTransport.all, [5, 16_384, 65_536, 300_000])
    func `a stream with another length than announced fails`(transport: ContractTransport, length: Int) async throws {
        let body = PatternBytes.make(count: length)
        let surplus: [[Data]] = [
            [body + [1]], [body, Data([1])], [body, Data(), Data([1])], [body, body], [body.dropLast()], [],
        ]
        let failing = AsyncThrowingStream<Data, any Error> { stream in
            stream.yield(body)
            stream.finish(throwing: ProducerFault())
        }
        try await withServer(.ok("x")) { server async throws in
            func post(_ body: TransportRequest.Body) async throws -> String {
                try await transport.client.send(transport.request(.post, server.url(), body: body), as: .text).body
            }
            for chunks in surplus {
                await expectFailure(.bodyLengthMismatch) { try await post(.once(chunks, length: length)) }
            }
            await #expect(throws: ProducerFault()) { try await post(.stream(failing, length: length)) }
            #expect(!server.requests.contains { $0.body == body })
            #expect(try await post(.once([body.prefix(1), body.dropFirst()], length: length)) == "x")
            #expect(server.requests.last?.body == body)
        }
    }

    /// Regression: the second request failed as one whose connection was lost.
    @Test(arguments: ContractTransport.all)
    func `a one-time body is one request's`(transport: ContractTransport) async throws {
        try await withServer(.ok("x")) { server in
            let request = try transport.request(.post, server.url(), body: .once("once"))
            #expect(try await transport.client.send(request, as: .text).body == "x")
            let error = await expectFailure(.bodyAlreadyRead) { try await transport.client.send(request, as: .text) }
            #expect(error?.message.contains(".replayableStream") == true)
            #expect(server.requests.count { !$0.body.isEmpty } == 1)
            await expectFailure(.bodyAlreadyRead) { try await request.body?.collect(upTo: 10) }
        }
    }

    /// The file was measured before, and has grown since.
    @Test(arguments: ContractTransport.all, [5, 16_384, 65_536, 300_000])
    func `a file that has grown is not sent in part`(transport: ContractTransport, length: Int) async throws {
        try await withFolder { folder in
            let path = folder + "/grown"
            try PatternBytes.make(count: length).write(to: URL(filePath: path))
            let body = try TransportRequest.Body.file(path)
            try PatternBytes.make(count: length + 1).write(to: URL(filePath: path))
            try await withServer(.ok("x")) { server in
                let request = try transport.request(.post, server.url(), body: body)
                await expectFailure(.bodyLengthMismatch) { try await transport.client.send(request, as: .data) }
            }
        }
    }

    // MARK: Response bodies

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
        try await withServer(.response(body: PatternBytes.make(count: 100_000))) { server in
            let collected = try await transport.start(.get, server.url())
            #expect(try await collected.body.collect().count == 100_000)
            await expectFailure(.bodyAlreadyRead) { try await collected.body.collect() }
            let iterated = try await transport.start(.get, server.url())
            var chunks = iterated.body.makeAsyncIterator()
            while try await chunks.next() != nil {}
            #expect(try await chunks.next() == nil)
            await expectFailure(.bodyAlreadyRead) { for try await _ in iterated.body {} }
            await expectFailure(.bodyAlreadyRead) { try await iterated.body.collect() }
            // The rest belongs to the next reader.
            let shared = try await transport.start(.get, server.url())
            var first = shared.body.makeAsyncIterator()
            let start = try #require(try await first.next()).count
            #expect(try await shared.body.collect().count == 100_000 - start)
        }
        // An empty rest is read once too.
        try await withServer(.ok("x")) { small in
            let peeked = try await transport.start(.get, small.url())
            var only = peeked.body.makeAsyncIterator()
            #expect(try await only.next() == Data("x".utf8))
            #expect(try await peeked.body.collect().isEmpty)
            await expectFailure(.bodyAlreadyRead) { try await peeked.body.collect() }
        }
    }

    @Test(
        arguments: ContractTransport.all,
        [(200, "x", .bodyAlreadyRead), (503, "x", .unacceptableStatus), (200, "", nil)]
            as [(Int, String, NetworkError.Code?)])
    func `an interceptor that reads a body returns the bytes`(
        transport: ContractTransport, row: (status: Int, body: String, code: NetworkError.Code?)
    ) async throws {
        try await withServer(.response(row.status, body: Data(row.body.utf8))) { server in
            let client = transport.client.with { $0.interceptors.append(Peeking()) }
            let request = try transport.request(.get, server.url())
            if let code = row.code {
                let error = await expectFailure(code) { try await client.send(request, as: .data) }
                #expect(error?.message.contains("interceptor") == (row.status == 200))
            } else {
                // Nothing is lost of an empty one.
                #expect(try await client.send(request, as: .data).body.isEmpty)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a chunked body is put together`(transport: ContractTransport) async throws {
        let chunks = [PatternBytes.make(count: 1), PatternBytes.make(count: 70_000), PatternBytes.make(count: 10)]
        var text = Script.head(200, fields: [("Transfer-Encoding", "chunked")])
        for chunk in chunks {
            text += Data("\(String(chunk.count, radix: 16));extension=1\r\n".utf8) + chunk + Data("\r\n".utf8)
        }
        text += Data("0\r\n\r\n".utf8)
        try await withServer([.forEachRequest([.send(text)])]) { server in
            for _ in 0..<2 {
                #expect(try await transport.send(.get, server.url()).body == chunks.reduce(Data(), +))
            }
            try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a body until the close is whole`(transport: ContractTransport) async throws {
        let body = PatternBytes.make(count: 100_000)
        let script = Script.raw(Script.head(200, fields: [("Connection", "close")]) + body)
        #expect(try await transport.send(to: script).body == body)
    }

    @Test(arguments: ContractTransport.all)
    func `the demo server measures the upload`(transport: ContractTransport) async throws {
        let body = PatternBytes.make(count: 3_000_000)
        let answer = try await transport.send(.put, try await Demo.url("/upload"), body: body)
        #expect(answer.text == #"{"bytes":3000000,"sha256":"\#(SHA256Checksum.digest(body).hexadecimal)"}"#)
    }
}

extension Sequence where Element: Sendable {
    /// Returns how many elements satisfy a condition.
    fileprivate func asyncCount(where condition: (Element) async throws -> Bool) async rethrows -> Int {
        var count = 0
        for element in self where try await condition(element) { count += 1 }
        return count
    }
}
