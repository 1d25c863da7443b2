import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Request bodies over curl", .patience(minutes: 1))
struct UploadTests {
    /// Regression: libcurl sends the request again, and the caller got the first response's head with the second one's
    /// body.
    @Test(arguments: [10, 1_000_000])
    func `a refused expectation is not the response`(size: Int) async throws {
        let refusal = Script.Step.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
        let answer = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")
        // libcurl 8.23 uses another connection if the head arrives apart from the body.
        let (server, response) = try await ScriptedServer.prompt(
            [.readHead, refusal, .read, answer], [.read, answer]
        ) { server in
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
            request.headerFields[.expect] = "100-continue"
            request.body = .bytes(Data(count: size))
            request.options.totalTimeout = .seconds(55)
            return try await CurlNetworkDispatcher.shared.send(request)
        }
        defer { server.stop() }
        #expect(response.status == .ok)
        #expect(String(decoding: try await response.body.collect(), as: UTF8.self) == "yes")
    }

    /// Regression: a POST of which the server had part of the body was sent again as a whole.
    @Test(arguments: [(HTTPRequest.Method.post, false), (.post, true), (.put, false)], [true, false])
    func `a refusal within the body repeats only what may be repeated`(
        method: (HTTPRequest.Method, Bool), isStreamed: Bool
    ) async throws {
        let answer = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")
        let server = try ScriptedServer(scripts: [
            [
                .readHead, .readBody(100_000),
                .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"), .stall,
            ], [.read, answer],
        ])
        defer { server.stop() }
        var request = TransportRequest(method: method.0, url: try RequestURL(server.url()))
        request.headerFields[.expect] = "100-continue"
        request.options.connection.repeatsAnyMethod = method.1
        request.options.totalTimeout = .seconds(55)
        let size = 8_000_000
        request.body =
            isStreamed
            ? .replayableStream(length: size) { self.chunks(80, of: size / 80) } : .bytes(Data(count: size))
        do {
            let response = try await CurlNetworkDispatcher.shared.send(request)
            _ = try await response.body.collect()
            #expect(method != (.post, false) && response.status == .ok)
        } catch let error as NetworkError {
            #expect(method == (.post, false) && error.code == .connectionLost, "\(error)")
            #expect(error.message.contains("(417)") && error.message.contains("connection.repeatsAnyMethod"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `after a refused expectation, the first byte's clock starts anew`() async throws {
        let refusal = Script([
            .readHead, .pause(.milliseconds(600)), .send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"), .stall,
        ])
        let yes = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")
        // Again where a core came so late that libcurl, which waits for a second, had sent the body before the refusal.
        func exchange(
            then rest: Script, firstByteTimeout: Duration?
        ) async throws -> (server: ScriptedServer, outcome: Result<TransportResponse, any Error>, time: Duration) {
            var tries = 5
            while true {
                let server = try ScriptedServer(refusal, rest)
                var request = TransportRequest(method: .put, url: try RequestURL(server.url()))
                request.headerFields[.expect] = "100-continue"
                request.body = .bytes(Data(count: 10))
                request.options.firstByteTimeout = firstByteTimeout
                request.options.totalTimeout = .seconds(55)
                let start = ContinuousClock.now
                let outcome: Result<TransportResponse, any Error>
                do {
                    outcome = .success(try await CurlNetworkDispatcher.shared.send(request))
                } catch {
                    outcome = .failure(error)
                }
                let time = start.duration(to: .now)
                tries -= 1
                if tries == 0 || server.requests.count == 2 || time < .seconds(1) { return (server, outcome, time) }
                server.stop()
            }
        }
        let silent = try await exchange(then: [.read, .stall], firstByteTimeout: .seconds(3))
        defer { silent.server.stop() }
        expectFailure(.firstByteTimeout) { try silent.outcome.get() }
        #expect(silent.time >= .milliseconds(3_600))
        let answering = try await exchange(then: [.read, yes], firstByteTimeout: nil)
        defer { answering.server.stop() }
        let response = try answering.outcome.get()
        #expect(try await response.body.collect() == Data("yes".utf8))
        #expect(try #require(response.metrics.firstByte) >= .milliseconds(600))
    }

    /// The 417 is the final response if the body has already been sent.
    @Test(arguments: [TransportRequest.Body.bytes(Data(count: 10)), .stream(tenBytes, length: 10), .stream(tenBytes)])
    func `a refusal after the body is the response`(body: TransportRequest.Body) async throws {
        // libcurl sends the body when nothing arrives for a second.
        try await withServer(.response(417, body: Data("no".utf8))) { server in
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
            request.headerFields[.expect] = "100-continue"
            request.body = body
            request.options.totalTimeout = .seconds(55)
            let response = try await CurlNetworkDispatcher.shared.send(request)
            #expect(response.status == .expectationFailed)
            #expect(String(decoding: try await response.body.collect(), as: UTF8.self) == "no")
        }
    }

    private static var tenBytes: AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data(count: 10))
            continuation.finish()
        }
    }

    private let dispatcher = CurlNetworkDispatcher()

    private func post(_ url: String, _ body: TransportRequest.Body) async throws -> TransportResponse {
        var request = TransportRequest(method: .post, url: try RequestURL(url), body: body)
        request.options.totalTimeout = .seconds(55)
        return try await dispatcher.send(request)
    }

    private func chunks(_ count: Int, of size: Int) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for number in 0..<count {
                continuation.yield(Data(repeating: UInt8(truncatingIfNeeded: number), count: size))
            }
            continuation.finish()
        }
    }

    private func expected(_ count: Int, of size: Int) -> Data {
        (0..<count).reduce(into: Data()) { $0 += Data(repeating: UInt8(truncatingIfNeeded: $1), count: size) }
    }

    @Test func `a stream of unknown length is sent in chunks`() async throws {
        try await withServer(.ok()) { server in
            _ = try await post(server.url(), .stream(chunks(50, of: 40_000))).body.collect()
            let received = try #require(server.requests.first)
            #expect(received.values(of: "Transfer-Encoding") == ["chunked"])
            #expect(received.values(of: "Content-Length") == [])
            #expect(received.values(of: "Content-Type") == [])
            #expect(received.values(of: "Expect") == [])
            #expect(received.body == expected(50, of: 40_000))
        }
    }

    @Test(arguments: [(3, 1_000), (40, 150_001)])
    func `a stream of known length has a Content-Length`(count: Int, size: Int) async throws {
        try await withServer(.ok()) { server in
            _ = try await post(server.url(), .stream(chunks(count, of: size), length: count * size)).body.collect()
            let received = try #require(server.requests.first)
            #expect(received.values(of: "Content-Length") == ["\(count * size)"])
            #expect(received.values(of: "Transfer-Encoding") == [])
            #expect(received.body == expected(count, of: size))
        }
    }

    /// All data that a stream has produced reaches the server, even if the stream produces more only after the server
    /// has it.
    @Test(arguments: [600_000, nil])
    func `a stream that waits keeps nothing back`(length: Int?) async throws {
        let (size, gate) = (300_000, Gate())
        let answer = Script.Step.send("HTTP/1.1 204 x\r\n\r\n")
        let server = try ScriptedServer(
            scripts: [
                // Part of the chunked framing is still unread; closing before it is read would reset the connection.
                [
                    .readHead, .readBody(size, each: 2_000, pause: .milliseconds(1)), .open(gate), .readBody(size),
                    answer, .stall,
                ]
            ], segment: 1000)
        defer { server.stop() }
        let body = AsyncStream<Data> { continuation in
            for _ in 0..<30 { continuation.yield(Data(count: size / 30)) }
            gate.whenOpen {
                continuation.yield(Data(count: size))
                continuation.finish()
            }
        }
        #expect(try await post(server.url(), .stream(body, length: length)).status == .noContent)
    }

    @Test func `an empty stream is an empty body`() async throws {
        try await withServer(.ok()) { server in
            _ = try await post(server.url(), .stream(chunks(0, of: 0))).body.collect()
            #expect(server.requests.first?.body == Data())
        }
    }

    @Test func `a file is sent with its length, and may be empty`() async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        for size in [0, 1, 65_536, 300_000] {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: path) }
            let contents = PatternBytes.make(count: size)
            try contents.write(to: URL(fileURLWithPath: path))
            let body = try TransportRequest.Body.file(path)
            #expect(body.length == size)
            _ = try await post(server.url(), body).body.collect()
            let received = try #require(server.requests.last)
            #expect(received.values(of: "Content-Length") == ["\(size)"])
            #expect(received.body == contents)
        }
    }

    @Test(arguments: ["/nonexistent/file", "/tmp", "/dev/null"])
    func `a path that is no readable file is refused at once`(path: String) {
        #expect { try TransportRequest.Body.file(path) } throws: { error in
            let error = error as? NetworkError
            return error?.code == .unreadableFile && error?.message.contains(path) == true
        }
    }

    struct ProducerFault: Error, Equatable { let number: Int }

    @Test func `the producer's error is the caller's error, a hundred times`() async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        for number in 0..<100 {
            let body = TransportRequest.Body.stream(
                AsyncThrowingStream<Data, any Error> { continuation in
                    if number % 2 == 1 { continuation.yield(Data(count: 100_000)) }
                    continuation.finish(throwing: ProducerFault(number: number))
                })
            await #expect(throws: ProducerFault(number: number)) { try await post(server.url(), body) }
        }
    }

    @Test func `a stream shorter or longer than its length fails`() async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        for length in [2_999, 3_001] {
            await #expect { try await post(server.url(), .stream(chunks(3, of: 1_000), length: length)) } throws: {
                ($0 as? NetworkError)?.code == .bodyLengthMismatch
            }
        }
    }

    /// libcurl never calls the read callback for a body of no bytes.
    @Test(arguments: [true, false])
    func `a stream longer than nothing fails`(isReplayable: Bool) async throws {
        try await withServer(.ok(), .ok()) { server in
            for count in [1, 5] {
                let chunks = chunks(count, of: 1)
                let body: TransportRequest.Body =
                    isReplayable ? .replayableStream(length: 0) { chunks } : .stream(chunks, length: 0)
                await #expect { try await post(server.url(), body) } throws: {
                    ($0 as? NetworkError)?.code == .bodyLengthMismatch
                }
            }
            #expect(server.requests.isEmpty)
            _ = try await post(server.url(), .stream(chunks(3, of: 0), length: 0))
            #expect(server.requests.last?.values(of: "Content-Length") == ["0"])
            #expect(server.requests.last?.body.isEmpty == true)
        }
    }

    /// The stream's error reaches the caller, and the wait for it has the same limits as for any other stream.
    @Test func `a stream of nothing may fail, or take too long`() async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        let failing = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: ProducerFault(number: 7)) }
        await #expect(throws: ProducerFault(number: 7)) {
            try await post(server.url(), .stream(failing, length: 0))
        }
        for (code, change) in [
            (NetworkError.Code.totalTimeout, { $0.totalTimeout = .milliseconds(20) }),
            (.idleTimeout, { $0.idleTimeout = .milliseconds(20) }),
        ] as [(NetworkError.Code, (inout TransportOptions) -> Void)] {
            let (silent, feed) = AsyncStream<Data>.makeStream()
            var request = TransportRequest(
                method: .post, url: try RequestURL(server.url()), body: .stream(silent, length: 0))
            change(&request.options)
            let posted = request
            await expectFailure(code) { try await CurlNetworkDispatcher().send(posted) }
            feed.finish()
        }
        #expect(server.requests.isEmpty)
    }

    /// A sequence whose wait ignores the cancellation of its task.
    private struct Stubborn: AsyncSequence, AsyncIteratorProtocol {
        let gate: Gate

        func makeAsyncIterator() -> Self { self }

        func next() async -> Data? {
            await Task.detached { [gate] in try? await gate.wait() }.value
            return nil
        }
    }

    /// Regression: the request waited for the end of such a stream, whatever its timeouts.
    @Test(arguments: [0, 5])
    func `a stream that ignores its cancellation holds up no request`(length: Int) async throws {
        try await withServer([.readHead, .stall]) { server in
            let gate = Gate()
            defer { gate.open() }
            let dispatcher = CurlNetworkDispatcher()
            let url = try RequestURL(server.url())
            func send(within time: Duration?) async throws {
                var request = TransportRequest(
                    method: .post, url: url, body: .stream(Stubborn(gate: gate), length: length))
                request.options.totalTimeout = time
                _ = try await dispatcher.send(request)
            }
            let task = Task { try await send(within: nil) }
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            await expectFailure(.totalTimeout) { try await send(within: .milliseconds(20)) }
        }
    }

    @Test func `a slow server stops the producer`() async throws {
        let gate = Gate()
        try await withServer([.readHead, .wait(until: gate), .stall]) { server in
            let produced = Counter()
            let body = TransportRequest.Body.replayableStream {
                AsyncStream<Data>(unfolding: {
                    produced.add(65_536)
                    return Data(count: 65_536)
                })
            }
            let upload = Task { try await post(server.url(), body) }
            try await server.wait { $0.requests.count == 1 }
            // Socket buffers and the transport's own take some data; then nothing more until the server reads.
            var last = -1
            while produced.value != last, last < 32 << 20 {
                last = produced.value
                for _ in 0..<2_000 { await Task.yield() }
            }
            #expect(last < 32 << 20)
            upload.cancel()
            await #expect { try await upload.value } throws: { ($0 as? NetworkError)?.code == .cancelled }
            gate.open()
        }
    }

    @Test func `an early response ends the upload`() async throws {
        let server = try ScriptedServer([
            .readHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"), .stall,
        ])
        defer { server.stop() }
        let body = TransportRequest.Body.replayableStream { AsyncStream<Data>(unfolding: { Data(count: 65_536) }) }
        for _ in 0..<20 {
            let response = try await post(server.url(), body)
            #expect(response.head.status.code == 413)
            #expect(try await response.body.collect() == Data("no".utf8))
        }
    }

    /// Regression: libcurl ends a transfer when both bodies have ended, so a stream that ended with the response never
    /// ended.
    @Test(arguments: ["hello", ""])
    func `the response ends where its length says, while a body is streamed`(text: String) async throws {
        try await withServer([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"), .stall,
        ]) { server in
            let (chunks, producer) = AsyncStream<Data>.makeStream()
            producer.yield(Data("first".utf8))
            let response = try await post(server.url(), .stream(chunks))
            var seen = Data()
            for try await chunk in response.body { seen += chunk }
            #expect(seen == Data(text.utf8))
            producer.finish()
        }
    }

    private enum Trace { @TaskLocal static var id = "none" }

    @Test func `a producer has its caller's task-local values and priority`() async throws {
        let once: Script = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .read, .close]
        try await withServer(once, .ok()) { server in
            let dispatcher = CurlNetworkDispatcher()
            let seen = Guarded<[String]>([])
            var request = TransportRequest(method: .put, url: try RequestURL(server.url()))
            request.options.totalTimeout = .seconds(55)
            request.body = .replayableStream {
                AsyncStream<Data>(unfolding: {
                    let isFirst = seen.withLock { list in
                        list.append("\(Trace.id) \(Task.currentPriority.rawValue)")
                        return list.count % 2 == 1
                    }
                    return isFirst ? Data("x".utf8) : nil
                })
            }
            let sent = request
            // The second request is sent twice: the loop starts its second producer.
            for _ in 0..<2 {
                try await Trace.$id.withValue("trace") {
                    try await Task(priority: .high) { _ = try await dispatcher.send(sent).body.collect() }.value
                }
            }
            #expect(Set(seen.withLock(\.self)) == ["trace \(TaskPriority.high.rawValue)"])
        }
    }

    /// Of a one-time stream, the start is kept: a short one is sent again as well.
    @Test(arguments: [(true, 7), (true, 200_000), (false, 7), (false, 65_536), (false, 65_537), (false, 200_000)])
    func `a stream is sent again when the kept connection was closed`(isReplayable: Bool, count: Int) async throws {
        // The first connection responds once, reads the second request, and closes without a response.
        let once: Script = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .read, .close]
        let made = Counter()
        try await withServer(once, .ok("second")) { server in
            let dispatcher = CurlNetworkDispatcher()
            var request = TransportRequest(method: .put, url: try RequestURL(server.url()), body: .bytes(Data([1])))
            request.options.totalTimeout = .seconds(55)
            _ = try await dispatcher.send(request).body.collect()
            let payload = PatternBytes.make(count: count)
            let chunks = { @Sendable in
                made.add(1)
                return AsyncStream<Data> { continuation in
                    for start in stride(from: 0, to: count, by: 40_000) {
                        continuation.yield(payload[start..<min(count, start + 40_000)])
                    }
                    continuation.finish()
                }
            }
            request.body = isReplayable ? .replayableStream(chunks) : .stream(chunks())
            guard isReplayable || count <= UploadState.keptStart else {
                await expectFailure(.connectionLost) { [request] in try await dispatcher.send(request) }
                return
            }
            let response = try await dispatcher.send(request)
            #expect(try await response.body.collect() == Data("second".utf8))
            #expect(server.requests.last?.body == payload)
            #expect(made.value == (isReplayable ? 2 : 1))
            await dispatcher.shutDown(within: .zero)
        }
    }
}

/// A counter that several threads increment.
final class Counter: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add(_ count: Int) { number.add(count, ordering: .relaxed) }
    func raise(to count: Int) { number.max(count, ordering: .relaxed) }
}
