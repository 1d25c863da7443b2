import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// Another stream resumes after the last event that the reader received, wherever the chunks end.
@Suite(.patience(minutes: 1))
struct LastEventIDTests {
    private let request = RequestData(path: "http://h/")

    private func client(_ chunks: [Data]) -> NetworkClient {
        let stub = StubTransport()
        stub.when(.any, .chunks(chunks, headerFields: [.contentType: "text/event-stream"]), .status(204))
        return NetworkClient(transport: stub)
    }

    private var options: ServerSentEvents.Options {
        var options = ServerSentEvents.Options()
        options.lastEventID = "before"
        options.time.sleep = { _ in }
        return options
    }

    /// Regression: after minutes of attempts the error was that of a single one.
    @Test func `the error that ends a stream says how many connections failed`() async throws {
        let stub = StubTransport(always: .failure(NetworkError(.connectFailed, "no connection", phase: .connecting)))
        var options = options
        options.maximumFailures = 3
        let error = await expectFailure(.connectFailed) { [options] in
            try await NetworkClient(transport: stub).send(request, as: .events(options))
        }
        #expect(error?.message == "no connection; 3 connections in a row failed (maximumFailures)")
        #expect(stub.sent.count == 3)
    }

    /// Regression: a stream that is empty counted twice, and the last error said two numbers.
    @Test(arguments: [1, 3]) func `a stream that ends at once counts as one failure`(failures: Int) async throws {
        let stub = StubTransport().always(.any, .chunks([], headerFields: [.contentType: "text/event-stream"]))
        var options = options
        options.maximumFailures = failures
        let error = await expectFailure(.connectionLost) { [options] in
            for try await _ in try await NetworkClient(transport: stub).send(request, as: .events(options)).body {}
        }
        let words = "; \(failures) connections in a row failed (maximumFailures)"
        #expect(error?.message.components(separatedBy: "in a row").count == (failures == 1 ? 1 : 2), "\(error as Any)")
        #expect(failures == 1 || error?.message.hasSuffix(words) == true)
        #expect(stub.sent.count == failures)
    }

    /// Regression: all events of a chunk were made before the first one was returned. A transport that can't pause a
    /// body may hold tens of megabytes of it.
    @Test func `a chunk as large as a body is parsed as its events are read`() async throws {
        let count = 400_000
        let chunk = Data(String(repeating: "data\n\n", count: count).utf8)
        let events = try await client([chunk]).send(request, as: .events(options)).body
        var iterator = events.makeAsyncIterator()
        var (read, most) = (0, 0)
        while read < count, try await iterator.next() != nil {
            read += 1
            most = max(most, iterator.ready.count)
        }
        #expect(read == count && most < 20_000)
    }

    /// Regression: with the first event of a chunk, the iterator had the chunk's last id. A reader that resumed from it
    /// lost events.
    @Test(arguments: 0..<60)
    func `the last event id is that of the event that was read last`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let blocks = (0..<12).map { number in
            switch Int.random(in: 0..<5, using: &random) {
            case 0: "id: \(number)\n\n"
            case 1: "data: \(number)\n\n"
            case 2: ": a comment\n\n"
            case 3: "id\ndata: \(number)\n\n"
            default: "id: \(number)\ndata: \(number)\n\n"
            }
        }
        var rest = Data(blocks.joined().utf8)
        var chunks: [Data] = []
        while !rest.isEmpty {
            let count = min(rest.count, Int.random(in: 1...60, using: &random))
            chunks.append(rest.prefix(count))
            rest = Data(rest.dropFirst(count))
        }
        let stream = try await client(chunks).send(request, as: .events(options)).body
        var iterator = stream.makeAsyncIterator()
        #expect(iterator.lastEventID == "before")
        while let event = try await iterator.next() { #expect(iterator.lastEventID == event.id) }
        // The iterator has passed the lines after the last event on its way to the end.
        let last = blocks.last { $0.hasPrefix("id") }
        let id = last.map { $0.hasPrefix("id: ") ? $0.dropFirst(4).prefix { $0.isNumber } : "" } ?? "before"
        #expect(iterator.lastEventID == id)
    }

    @Test func `a reader that stops and goes on loses nothing`() async throws {
        let all = (1...6).map { "id: \($0)\ndata: \($0)\n\n" }
        var (read, id) = ([String](), "")
        for _ in 1...6 {
            let left = all.dropFirst(Int(id) ?? 0).joined()
            var options = options
            options.lastEventID = id
            let stream = try await client([Data(left.utf8)]).send(request, as: .events(options)).body
            var iterator = stream.makeAsyncIterator()
            if let event = try await iterator.next() { read.append(event.data) }
            id = iterator.lastEventID
        }
        #expect(read == ["1", "2", "3", "4", "5", "6"])
    }

    @Test func `a cancelled reader goes on behind what it got`() async throws {
        let text = "id: 1\ndata: 1\n\nid: 2\ndata: 2\n\nid: 3\n\n"
        let stream = try await client([Data(text.utf8)]).send(request, as: .events(options)).body
        let reader = Task {
            var iterator = stream.makeAsyncIterator()
            _ = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            await expectFailure(.cancelled) { try await iterator.next() }
            return iterator.lastEventID
        }
        #expect(try await reader.value == "1")
    }
}
