import Foundation
import FoundationNetworking
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkLayer

/// Streams as the bodies of `URLRequest`s.
@Suite(.patience(minutes: 1))
struct BodyStreamTests {
    private static let transports = TransportKind.allCases.map(\.transport)

    private func upload(_ stream: InputStream, to url: String = "http://h/a") -> URLRequest {
        var request = URLRequest(url: URL(string: url)!)
        (request.httpMethod, request.httpBodyStream) = ("POST", stream)
        return request
    }

    @Test(arguments: transports)
    func `a body stream is carried`(transport: any HTTPTransport) async throws {
        try await withServer(.ok("thanks")) { server in
            let bytes = PatternBytes.make(count: 200_000, from: 0)
            let upload = upload(InputStream(data: bytes), to: server.url())
            let response = try await NetworkClient(transport: transport).send(upload, as: .text)
            #expect(response.httpURLResponse?.statusCode == 200 && response.body == "thanks")
            #expect(server.requests.first?.body == bytes)
        }
    }

    @Test func `a body stream beyond the limit is refused`() async throws {
        var client = NetworkClient(transport: StubTransport(lacking: [.streamedRequestBodies]))
        client.options.maximumBodyBytes = 1000
        let upload = upload(InputStream(data: Data(count: 1001)))
        await expectFailure(.bodyTooLarge) { try await client.send(upload, as: .data) }
    }

    /// Regression: the collected body of a transport that can't stream had no idle timeout, and waited for a producer
    /// that ignores its cancellation.
    @Test(arguments: [true, false])
    func `a body that is collected first has the timeouts of one that is streamed`(isIdle: Bool) async throws {
        // Its producer ends when the test does, whatever is cancelled.
        let end = Gate()
        defer { end.open() }
        let body = TransportRequest.Body.replayableStream {
            AsyncStream<Data> {
                await withCheckedContinuation { waiter in end.whenOpen { waiter.resume() } }
                return nil
            }
        }
        var request = try TransportRequest(method: .post, to: "http://a/", body: body)
        request.options.idleTimeout = isIdle ? .milliseconds(100) : nil
        request.options.totalTimeout = isIdle ? nil : .milliseconds(100)
        let client = NetworkClient(transport: StubTransport(lacking: [.streamedRequestBodies]))
        await expectFailure(isIdle ? .idleTimeout : .totalTimeout) { [request] in
            try await client.send(request, as: .data)
        }
        request.options = TransportOptions()
        let sending = Task { [request] in try await client.send(request, as: .data) }
        sending.cancel()
        await expectFailure(.cancelled) { try await sending.value }
    }

    enum Fault: CaseIterable {
        case missing, opened, closed

        func stream() throws -> InputStream {
            let stream = self == .closed ? InputStream(data: Data(count: 10)) : InputStream(fileAtPath: "/no/such/file")
            if self != .missing { stream?.open() }
            if self == .closed { stream?.close() }
            return try #require(stream)
        }
    }

    @Test(arguments: Fault.allCases)
    func `a broken or closed body stream is the caller's error`(fault: Fault) async throws {
        let upload = upload(try fault.stream())
        await expectFailure(.unreadableFile) { try await StubTransport().send(upload, as: .data) }
    }

    /// Regression: the second request ended the process, or sent the rest of the stream as if it were the whole.
    @Test(arguments: transports)
    func `a body stream is one request's, whatever is made of the URLRequest`(
        transport: any HTTPTransport
    ) async throws {
        // A connection that is lost before the first byte of the body takes nothing of the stream.
        let server = try ScriptedServer([.readHead, .readBody(1), .reset], .ok("thanks"))
        defer { server.stop() }
        let upload = upload(InputStream(data: Data(count: 5_000_000)), to: server.url())
        // A description that is not sent takes nothing.
        for _ in 0..<3 { _ = upload.data }
        let client = NetworkClient(transport: transport)
        await #expect(throws: NetworkError.self) { try await client.send(upload, as: .data) }
        for _ in 0..<2 { await expectFailure(.bodyAlreadyRead) { try await client.send(upload, as: .data) } }
        #expect(!server.requests.contains { $0.body.count > 1 })
    }

    @Test(arguments: transports)
    func `of two requests with one body stream, one is sent`(transport: any HTTPTransport) async throws {
        let server = try ScriptedServer(.ok("thanks"))
        defer { server.stop() }
        let bytes = PatternBytes.make(count: 3_000_000, from: 0)
        let upload = upload(InputStream(data: bytes), to: server.url())
        let client = NetworkClient(transport: transport)
        let results = await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { (try? await client.send(upload, as: .data)) != nil } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0 } == 1)
        #expect(server.requests.map(\.body) == [bytes])
    }

    /// A thread that waits for a silent stream is the stream's own: one of libdispatch's would be missing elsewhere.
    @Test func `a stream's thread is no other one's, and their number is limited`() async throws {
        expectFailure(.overloaded) { _ = try StreamThread(limit: 0) }
        let thread = try StreamThread()
        func number() async -> pthread_t {
            await withCheckedContinuation { done in thread.perform { done.resume(returning: pthread_self()) } }
        }
        let first = await number()
        for _ in 0..<10 { #expect(await number() == first) }
        thread.end()
    }

    /// Otherwise requests that a program keeps would use up the threads.
    @Test func `a stream that was read has no thread, however long its request is kept`() async throws {
        let kept = (0..<2 * StreamThread.maximum).map { _ in InputStreamChunks(InputStream(data: Data(count: 10))) }
        for chunks in kept {
            var iterator = chunks.makeAsyncIterator()
            #expect(try await iterator.next() == Data(count: 10))
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
        }
    }

    @Test func `streams that are gone are forgotten`() {
        for _ in 0..<10_000 { #expect(ReadStreams.claim(InputStream(data: Data()))) }
        #expect(ReadStreams.count < 1_000)
    }

    /// Regression: a pipe without a writer blocks the thread that opens it, which also blocked the call.
    @Test func `a body stream that blocks ends with the call`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)").path
        #expect(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        func blocked() throws -> URLRequest { upload(try #require(InputStream(fileAtPath: path))) }
        var client = NetworkClient(transport: StubTransport(lacking: [.streamedRequestBodies]))
        let cancelled = try blocked()
        let sending = Task { [client] in try await client.send(cancelled, as: .data) }
        sending.cancel()
        await expectFailure(.cancelled) { try await sending.value }
        client.options.totalTimeout = .milliseconds(100)
        await expectFailure(.totalTimeout) { [client] in try await client.send(blocked(), as: .data) }
        // Opening a pipe for reading and writing does not block; its readers reach the end once it is closed.
        let pipe = open(path, O_RDWR | O_NONBLOCK)
        #expect(pipe >= 0 && close(pipe) == 0)
    }
}
