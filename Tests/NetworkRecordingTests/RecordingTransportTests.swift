import Foundation
import NetworkCore
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkRecording

@Suite(.patience(minutes: 1))
struct RecordingTransportTests {
    private let curl = CurlNetworkDispatcher.shared
    private let memory = RecordingMemory()
    private var transport: RecordingTransport { RecordingTransport(curl, to: memory, options: .allBodies) }

    private func entry() async throws -> Recording.Entry {
        let entries = await memory.recording().entries
        #expect(entries.count == 1)
        return try #require(entries.first)
    }

    private static let head =
        "HTTP/1.1 207 Many Things\r\nX-b: 1\r\nx-A: two\r\nX-B: 3\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func `an exchange comes back from the file as it was`() async throws {
        let bytes = Data((0...255).map { UInt8($0) })
        let server = try ScriptedServer(
            [.read, .send(Self.head + "100\r\n"), .send(bytes), .send("\r\n0\r\nX-Trailer: t\r\n\r\n"), .close])
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try RecordingFile(folder.file())
        let recorder = RecordingTransport(curl, to: file, options: .allBodies)
        let fields: HTTPFields = [HTTPField.Name("X-Own")!: "a", HTTPField.Name("x-own2")!: "b"]
        let request = try TransportRequest(
            method: .put, to: server.url("/a?b=c"), headerFields: fields, body: .bytes(bytes))
        let original = try await recorder.send(request)
        let chunks = try await original.body.chunks()
        try await file.close()

        let recording = try Recording(contentsOf: folder.file())
        let entry = try #require(recording.entries.first)
        #expect(entry.request.method == .put)
        #expect(entry.request.url == server.url("/a?b=c"))
        #expect(entry.request.headerFields.lines == request.wireFields.lines)
        #expect(entry.request.body?.bytes == bytes)
        #expect(entry.transport == "curl")
        #expect(entry.metrics.httpVersion == "1.1")
        #expect(entry.metrics.remoteAddress == "127.0.0.1:\(server.port)")
        #expect(entry.response?.chunks.map(\.count) == chunks.map(\.count))

        let replay = ReplayTransport(recording, matching: .strict)
        let again = try await replay.send(request)
        #expect(again.head.status.code == 207)
        #expect(again.head.status.reasonPhrase == original.head.status.reasonPhrase)
        #expect(again.head.headerFields.lines == original.head.headerFields.lines)
        #expect(again.head.headerFields.lines.prefix(3) == ["X-b: 1", "x-A: two", "X-B: 3"])
        #expect(again.body.trailers == nil)
        #expect(try await again.body.chunks() == chunks)
        #expect(again.body.trailers?.lines == ["X-Trailer: t"])
        #expect(again.metrics.remoteAddress == entry.metrics.remoteAddress)
        #expect(again.metrics.responseWireBytes == original.metrics.responseWireBytes)
        try replay.checkAllUsed()
    }

    @Test func `a first chunk is not delayed by the second`() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .read, .send(Self.head + "5\r\nfirst\r\n"), .wait(until: gate), .send("6\r\nsecond\r\n0\r\n\r\n"), .close,
        ])
        defer { server.stop() }
        let response = try await transport.send(TransportRequest(to: server.url()))
        var reader = response.body.makeAsyncIterator()
        #expect(try await reader.next() == Data("first".utf8))
        #expect(await memory.recording().entries.isEmpty)
        gate.open()
        #expect(try await reader.next() == Data("second".utf8))
        #expect(try await reader.next() == nil)
        let entry = try await entry()
        #expect(entry.response?.body.text == "firstsecond")
        #expect(entry.response?.chunks.map(\.count) == [5, 6])
        let times = try #require(entry.response).chunks.map(\.time)
        #expect(times == times.sorted())
        #expect(try #require(entry.response?.headTime) <= times[0])
    }

    @Test func `an upload streams while it is recorded`() async throws {
        let gate = Gate()
        // Ten bytes are the first chunk on the wire.
        let server = try ScriptedServer([
            .readHead, .readBody(10), .open(gate), .readBody(16),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .close,
        ])
        defer { server.stop() }
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let request = try TransportRequest(method: .post, to: server.url(), body: .stream(stream))
        let sending = Task { try await transport.send(request).body.collect() }
        continuation.yield(Data("first".utf8))
        // The server has the first chunk before there is a second one.
        try await gate.wait()
        continuation.yield(Data("second".utf8))
        continuation.finish()
        _ = try await sending.value
        #expect(try await entry().request.body == .init(Data("firstsecond".utf8)))
    }

    @Test func `a released body ends the exchange and is recorded as incomplete`() async throws {
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\nstart"), .stall,
        ])
        defer { server.stop() }
        func firstChunk() async throws -> Data? {
            var reader = try await transport.send(TransportRequest(to: server.url("/r"))).body.makeAsyncIterator()
            return try await reader.next()
        }
        #expect(try await firstChunk() == Data("start".utf8))
        try await server.wait { $0.connectionsEndedByPeer == 1 }
        let entry = try await entry()
        #expect(entry.isIncomplete)
        #expect(entry.response?.body.text == "start")
        #expect(entry.failure == nil)
        // Replayed, the same part is there, and no more.
        let replay = ReplayTransport(Recording(entries: [entry]))
        var reader = try await replay.send(TransportRequest(to: server.url("/r"))).body.makeAsyncIterator()
        #expect(try await reader.next() == Data("start".utf8))
        await expectFailure(.notRecorded) { try await reader.next() }
    }

    @Test(
        arguments: [
            (Script.truncated, NetworkError.Code.truncatedBody), (.truncatedChunks, .truncatedBody),
            (.closed, .connectionLost), (.garbage, .invalidResponse),
        ] as [(Script, NetworkError.Code)])
    func `a failure is recorded and replayed with its code`(_ script: Script, _ code: NetworkError.Code) async throws {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        let request = try TransportRequest(to: server.url("/f"))
        let original = NetworkError.code(of: try #require(await failure(of: request, over: transport)))
        #expect(original != nil)
        let recording = try Recording(har: await memory.recording().harText(bodies: .all))
        let replayed = await failure(of: request, over: ReplayTransport(recording))
        #expect(NetworkError.code(of: try #require(replayed)) == original)
        #expect((replayed as? NetworkError)?.exchange?.transport == "replay")
        if code != .truncatedBody { #expect(recording.entries.first?.response == nil) }
    }

    private func failure(of request: TransportRequest, over transport: some HTTPTransport) async -> (any Error)? {
        do {
            _ = try await transport.send(request).body.chunks()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a cancelled exchange is recorded`() async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        let request = try TransportRequest(to: server.url())
        let sending = Task { try await transport.send(request) }
        try await server.wait { $0.requests.count == 1 }
        sending.cancel()
        _ = await sending.result
        #expect(try await entry().failure?.code == .cancelled)
    }

    @Test func `a body is recorded up to the limit and delivered as a whole`() async throws {
        let body = Data((0..<1000).map { UInt8($0 % 251) })
        let stub = StubTransport(always: .chunks([body.prefix(600), body.dropFirst(600)]))
        var options = RecordingTransport.Options.allBodies
        options.maximumBodyBytes = 700
        let transport = RecordingTransport(stub, to: memory, options: options)
        let request = try TransportRequest(method: .post, to: "http://h/", body: .bytes(body))
        let chunks = try await transport.send(request).body.chunks()
        #expect(chunks.map(\.count) == [600, 400])
        #expect(stub.sent.first?.body == body)
        let entry = try await entry()
        #expect(entry.request.body == .init(body.prefix(700), omitted: 300))
        #expect(entry.response?.body == .init(body.prefix(700), omitted: 300))
        #expect(entry.response?.chunks.map(\.count) == [600, 400])
        let recording = try Recording(har: Recording(entries: [entry]).harText(bodies: .all))
        var replayed: [Data] = []
        let replay = ReplayTransport(recording, matching: .strict, options: options)
        let again = try await replay.send(request).body
        await expectFailure(.notRecorded) { for try await chunk in again { replayed.append(chunk) } }
        #expect(replayed == [body.prefix(600), body.dropFirst(600).prefix(100)])
    }

    @Test func `the recorder in memory has a limit`() async throws {
        let memory = RecordingMemory(maximumBytes: 5000)
        let transport = RecordingTransport(StubTransport(always: .text("x")), to: memory)
        for _ in 0..<10 { try await transport.get("http://h/") }
        let count = await memory.recording().entries.count
        #expect((1...4).contains(count))
        #expect(memory.leftOutCount == 10 - count)
    }

    /// Regression: an entry that the queue refused counted for the limit of the recorder ever after.
    @Test func `an entry that the queue refuses takes no room in the recorder`() async throws {
        let size = EntryQueue.maximumQueued
        let memory = RecordingMemory(maximumBytes: 2 * size)
        let mayMake = DispatchSemaphore(value: 0)
        let entry = Recording.Entry(request: .init(url: "http://h/"))
        memory.add(size: size) {
            mayMake.wait()
            return entry
        }
        // As many bytes as may wait do so.
        memory.add(size: size) { entry }
        #expect(memory.leftOutCount == 1)
        mayMake.signal()
        #expect(await memory.recording().entries.count == 1)
        memory.add(size: size) { entry }
        #expect(await memory.recording().entries.count == 2)
        #expect(memory.leftOutCount == 1)
    }

    /// Regression: what an earlier reading still delivered was recorded as a part of the newer one.
    @Test func `of a body that is read twice at the same time the newer reading is recorded`() async throws {
        let made = Atomic(0)
        let body = TransportRequest.Body.replayableStream {
            let number = made.add(1, ordering: .relaxed).newValue
            return AsyncStream<Data> { stream in
                stream.yield(Data("\(number)".utf8))
                stream.finish()
            }
        }
        let request = try TransportRequest(method: .post, to: "http://h/", body: body)
        _ = try await RecordingTransport(TwiceReadingTransport(), to: memory, options: .allBodies).send(request).body
            .collect()
        #expect(try await entry().request.body == .init(Data("2".utf8)))
    }

    @Test func `many small chunks are recorded as at most 4096`() async throws {
        let chunks = (0..<5000).map { Data([UInt8($0 % 256)]) }
        let transport = RecordingTransport(StubTransport(always: .chunks(chunks)), to: memory, options: .allBodies)
        #expect(try await transport.send(TransportRequest(to: "http://h/")).body.chunks().count == 5000)
        let entry = try await entry()
        #expect(entry.response?.chunks.count == 4096)
        #expect(entry.response?.chunks.reduce(0) { $0 + $1.count } == 5000)
    }

    @Test func `an entry is made from a request and a response`() throws {
        let request = try TransportRequest(
            method: .post, to: "http://h/?token=canary", headerFields: [.authorization: "canary"],
            body: .bytes(Data(#"{"password":"canary"}"#.utf8)))
        let entry = Recording.Entry(
            request, response: HTTPResponse(status: .ok), body: Data(#"{"token":"canary"}"#.utf8), transport: "own")
        #expect(entry.response?.body.text == #"{"token":"REDACTED"}"#)
        #expect(entry.request.body?.text == #"{"password":"REDACTED"}"#)
        #expect(entry.redacted == [.url, .requestFields, .requestBody, .responseBody])
        let failed = Recording.Entry(request, failure: NetworkError.connectTimeout)
        #expect(failed.failure?.code == .connectTimeout)
        #expect(!Recording(entries: [entry, failed]).harText().contains("canary"))
    }
}

/// A transport that reads a body again before the reading before has taken its first chunk.
private struct TwiceReadingTransport: HTTPTransport {
    let name = "twice"
    let capabilities = StubTransport().capabilities

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let (isBegun, mayTake) = (Gate(), Gate())
        let body = try #require(request.body)
        let earlier = Task {
            try await body.read { _ in
                isBegun.open()
                try await mayTake.wait()
            }
        }
        try await isBegun.wait()
        try await body.read { _ in
            mayTake.open()
            try await earlier.value
        }
        return TransportResponse(head: HTTPResponse(status: .ok), body: .init(Data()))
    }
}
