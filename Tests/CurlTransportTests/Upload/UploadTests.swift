import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Request bodies over curl", .patience(minutes: 1))
struct UploadTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func chunks(_ count: Int, of size: Int) -> [Data] {
        (0..<count).map { Data(repeating: UInt8(truncatingIfNeeded: $0), count: size) }
    }

    private func post(_ url: String, _ body: TransportRequest.Body) async throws -> TransportResponse {
        try await dispatcher.start(url, body: body)
    }

    @Test func `a stream of unknown length is sent in chunks`() async throws {
        try await withServer(.ok()) { server in
            _ = try await post(server.url(), .once(chunks(50, of: 40_000))).body.collect()
            let received = try #require(server.requests.first)
            #expect(received.values(of: "Transfer-Encoding") == ["chunked"])
            for name in ["Content-Length", "Content-Type", "Expect"] { #expect(received.values(of: name) == []) }
            #expect(received.body == chunks(50, of: 40_000).reduce(Data(), +))
        }
    }

    @Test(arguments: [(3, 1_000), (40, 150_001)])
    func `a stream of known length has a Content-Length`(count: Int, size: Int) async throws {
        try await withServer(.ok()) { server in
            let body = TransportRequest.Body.once(chunks(count, of: size), length: count * size)
            _ = try await post(server.url(), body).body.collect()
            let received = try #require(server.requests.first)
            #expect(received.values(of: "Content-Length") == ["\(count * size)"])
            #expect(received.values(of: "Transfer-Encoding") == [])
            #expect(received.body == chunks(count, of: size).reduce(Data(), +))
        }
    }

    /// All data that a stream has produced reaches the server, even if the stream produces more only after the server
    /// has it.
    @Test(arguments: [600_000, nil])
    func `a stream that waits keeps nothing back`(length: Int?) async throws {
        let (size, gate) = (300_000, Gate())
        // Part of the chunked framing is still unread; closing before it is read would reset the connection.
        let script: Script = [
            .readHead, .readBody(size, each: 2_000, pause: .milliseconds(1)), .open(gate), .readBody(size),
            .send("HTTP/1.1 204 x\r\n\r\n"), .stall,
        ]
        try await withServer(script, segment: 1000) { server async throws in
            let body = AsyncStream<Data> { continuation in
                for _ in 0..<30 { continuation.yield(Data(count: size / 30)) }
                gate.whenOpen {
                    continuation.yield(Data(count: size))
                    continuation.finish()
                }
            }
            #expect(try await post(server.url(), .stream(body, length: length)).status == .noContent)
        }
    }

    @Test func `an empty stream is an empty body`() async throws {
        try await withServer(.ok()) { server in
            _ = try await post(server.url(), .once([])).body.collect()
            #expect(server.requests.first?.body == Data())
        }
    }

    @Test func `a file is sent with its length, and may be empty`() async throws {
        try await withServer(.ok()) { server in
            for size in [0, 1, 65_536, 300_000] {
                let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
                defer { try? FileManager.default.removeItem(atPath: path) }
                let contents = PatternBytes.make(count: size)
                try contents.write(to: URL(fileURLWithPath: path))
                let body = try TransportRequest.Body.file(path)
                #expect(body.length == size)
                _ = try await post(server.url(), body).body.collect()
                #expect(server.requests.last?.values(of: "Content-Length") == ["\(size)"])
                #expect(server.requests.last?.body == contents)
            }
        }
    }

    @Test(arguments: ["/nonexistent/file", "/tmp", "/dev/null"])
    func `a path that is no readable file is refused at once`(path: String) {
        let error = expectFailure(.unreadableFile) { try TransportRequest.Body.file(path) }
        #expect(error?.message.contains(path) == true)
    }

    // MARK: Producers

    struct ProducerFault: Error, Equatable { let number: Int }

    @Test func `the producer's error is the caller's error, a hundred times`() async throws {
        try await withServer(.ok()) { server in
            for number in 0..<100 {
                let failing = AsyncThrowingStream<Data, any Error> { continuation in
                    if number % 2 == 1 { continuation.yield(Data(count: 100_000)) }
                    continuation.finish(throwing: ProducerFault(number: number))
                }
                await #expect(throws: ProducerFault(number: number)) { try await post(server.url(), .stream(failing)) }
            }
        }
    }

    @Test func `a stream shorter or longer than its length fails`() async throws {
        try await withServer(.ok()) { server in
            for length in [2_999, 3_001] {
                await expectFailure(.bodyLengthMismatch) {
                    try await post(server.url(), .once(chunks(3, of: 1_000), length: length))
                }
            }
        }
    }

    /// libcurl never calls the read callback for a body of no bytes.
    @Test(arguments: [true, false])
    func `a stream longer than nothing fails`(isReplayable: Bool) async throws {
        try await withServer(.ok(), .ok()) { server in
            for count in [1, 5] {
                let chunks = AsyncStream.of(chunks(count, of: 1))
                await expectFailure(.bodyLengthMismatch) {
                    try await post(
                        server.url(),
                        isReplayable ? .replayableStream(length: 0) { chunks } : .stream(chunks, length: 0))
                }
            }
            #expect(server.requests.isEmpty)
            _ = try await post(server.url(), .once(chunks(3, of: 0), length: 0))
            #expect(server.requests.last?.values(of: "Content-Length") == ["0"])
            #expect(server.requests.last?.body.isEmpty == true)
        }
    }

    /// The stream's error reaches the caller, and the wait for it has the same limits as for any other stream.
    @Test func `a stream of nothing may fail, or take too long`() async throws {
        try await withServer(.ok()) { server in
            let failing = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: ProducerFault(number: 7)) }
            await #expect(throws: ProducerFault(number: 7)) {
                try await post(server.url(), .stream(failing, length: 0))
            }
            for (code, change) in [
                (NetworkError.Code.totalTimeout, { $0.totalTimeout = .milliseconds(20) }),
                (.idleTimeout, { $0.idleTimeout = .milliseconds(20) }),
            ] as [(NetworkError.Code, (inout TransportOptions) -> Void)] {
                let (silent, feed) = AsyncStream<Data>.makeStream()
                await expectFailure(code) {
                    try await dispatcher.start(server.url(), body: .stream(silent, length: 0), options: change)
                }
                feed.finish()
            }
            #expect(server.requests.isEmpty)
        }
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
            let url = server.url()
            @Sendable func send(within time: Duration?) async throws {
                _ = try await dispatcher.start(url, body: .stream(Stubborn(gate: gate), length: length)) {
                    $0.totalTimeout = time
                }
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
            await expectFailure(.cancelled) { try await upload.value }
            gate.open()
        }
    }

    private enum Trace { @TaskLocal static var id = "none" }

    @Test func `a producer has its caller's task-local values and priority`() async throws {
        try await withServer(.once, .ok()) { server in
            let seen = Guarded<[String]>([])
            let body = TransportRequest.Body.replayableStream {
                AsyncStream<Data>(unfolding: {
                    let isFirst = seen.withLock { list in
                        list.append("\(Trace.id) \(Task.currentPriority.rawValue)")
                        return list.count % 2 == 1
                    }
                    return isFirst ? Data("x".utf8) : nil
                })
            }
            let request = try makeRequest(server.url(), .put, body: body)
            // The second request is sent twice: the loop starts its second producer.
            for _ in 0..<2 {
                try await Trace.$id.withValue("trace") {
                    try await Task(priority: .high) { _ = try await dispatcher.send(request).body.collect() }.value
                }
            }
            #expect(Set(seen.withLock(\.self)) == ["trace \(TaskPriority.high.rawValue)"])
        }
    }

    /// Of a one-time stream, the start is kept: a short one is sent again as well.
    @Test(arguments: [(true, 7), (true, 200_000), (false, 7), (false, 65_536), (false, 65_537), (false, 200_000)])
    func `a stream is sent again when the kept connection was closed`(isReplayable: Bool, count: Int) async throws {
        try await withServer(.once, .ok("second")) { server in
            let made = Counter()
            _ = try await Exchange(server.url(), .put, over: dispatcher, body: .bytes(Data([1])))
            let payload = PatternBytes.make(count: count)
            let chunks = { @Sendable in
                made.add(1)
                return AsyncStream.of(
                    stride(from: 0, to: count, by: 40_000).map { payload[$0..<min(count, $0 + 40_000)] })
            }
            let body: TransportRequest.Body = isReplayable ? .replayableStream(chunks) : .stream(chunks())
            guard isReplayable || count <= UploadState.keptStart else {
                await expectFailure(.connectionLost) { try await dispatcher.start(server.url(), .put, body: body) }
                return
            }
            #expect(try await Exchange(server.url(), .put, over: dispatcher, body: body).text == "second")
            #expect(server.requests.last?.body == payload)
            #expect(made.value == (isReplayable ? 2 : 1))
        }
    }
}
