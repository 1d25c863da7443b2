import Foundation
import JSONText
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// The limit on the bodies that all lines of `run` hold together.
@Suite("The bodies of all lines", .patience(minutes: 1))
struct BodyBudgetTests {
    /// Regression: each line alone had a limit, so that 256 of them held up to 16 GiB.
    @Test func `lines hold at most the limit and one body, and all come out`() async throws {
        let (count, chunk, limit) = (20, 8 << 10, 150 << 10)
        let body = PatternBytes.make(count: 8 * chunk)
        let chunks = (0..<8).map { Data(body[$0 * chunk..<($0 + 1) * chunk]) }
        let (input, output) = (Pipe(), Pipe())
        let lines = (0..<count).map { #"{"id":\#($0),"url":"http://h/"}"# + "\n" }.joined()
        try input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        try input.fileHandleForWriting.close()
        let bodies = BodyBudget(limit: limit)
        let (source, target) = (input.fileHandleForReading, output.fileHandleForWriting)
        let replay = Replay(
            transport: StubTransport(always: .chunks(chunks)),
            output: OutputWriter(Descriptor(number: target.fileDescriptor), named: "a pipe"), concurrency: count,
            bodies: bodies)
        let run = Task {
            defer { try? target.close() }
            try await replay.run(ByteSource(reading: source.fileDescriptor, name: "a pipe"))
        }
        // One result is longer than the pipe, so that until it is read no line gives anything back.
        while bodies.waitingCount == 0, bodies.held < count * body.count { await Task.yield() }
        let text = String(decoding: try await Self.end(of: output.fileHandleForReading), as: UTF8.self)
        try await run.value
        try source.close()
        #expect(bodies.most <= limit + body.count)
        #expect(bodies.held == 0 && bodies.waitingCount == 0)
        let results = text.split(separator: "\n")
        #expect(results.count == count)
        #expect(results.allSatisfy { $0.contains(#""bodyBase64":"\#(body.base64EncodedString())""#) })
    }

    @Test func `two lines that hold all bytes don't wait for one another`() async throws {
        let bodies = BodyBudget(limit: 10)
        let (first, second, third) = (bodies.share(), bodies.share(), bodies.share())
        let call = NetworkClient.Call()
        try await first.take(5, within: call)
        try await second.take(5, within: call)
        try await first.take(7, within: call)
        let late = Task { try await second.take(7, within: call) }
        while bodies.waitingCount < 1 { await Task.yield() }
        let last = Task { try await third.take(1, within: call) }
        while bodies.waitingCount < 2 { await Task.yield() }
        // It goes on, and those that wait are not before it.
        try await first.take(7, within: call)
        #expect(bodies.held == 24)
        first.giveBack()
        try await late.value
        #expect(bodies.held == 12)
        second.giveBack()
        try await last.value
        #expect(bodies.held == 1 && bodies.most == 24)
        third.giveBack()
        #expect(bodies.held == 0)
    }

    @Test func `a wait ends with the line's timeout and with its task`() async throws {
        let bodies = BodyBudget(limit: 10)
        let other = bodies.share()
        _ = try await other.collect(.init(Data(count: 11)), upTo: 11, within: .init())
        let replay = Replay(
            transport: StubTransport(always: .text("hello")), output: .standardOutput, concurrency: 1, bodies: bodies)
        @Sendable func answer(_ options: String) async -> String {
            let share = bodies.share()
            defer { share.giveBack() }
            let text = #"{"url":"http://h/","options":\#(options)}"#
            let line = LineSplitter.Line(number: 1, bytes: Array(text.utf8))
            return String(decoding: await replay.outcome(of: line, holding: share).json.line, as: UTF8.self)
        }
        #expect(await answer(#"{"timeoutMs":50}"#).contains(#"{"code":"totalTimeout""#))
        let waiting = Task { await answer("{}") }
        while bodies.waitingCount == 0 { await Task.yield() }
        waiting.cancel()
        #expect(await waiting.value.contains(#"{"code":"cancelled""#))
        #expect(bodies.waitingCount == 0 && bodies.held == 11)
        other.giveBack()
        #expect(await answer("{}").contains(#""bodyBase64":"aGVsbG8=""#))
    }

    @Test func `a body above its line's limit is refused`() async throws {
        let bodies = BodyBudget()
        let replay = Replay(
            transport: StubTransport(always: .text("hello")), output: .standardOutput, concurrency: 1, bodies: bodies)
        for (limit, word) in [(4, #"{"code":"bodyTooLarge""#), (5, #""bodyBase64":"aGVsbG8=""#)] {
            let text = #"{"url":"http://h/","options":{"maxBodyBytes":\#(limit)}}"#
            let line = LineSplitter.Line(number: 1, bytes: Array(text.utf8))
            let answer = await replay.outcome(of: line, holding: bodies.share()).json.line
            #expect(String(decoding: answer, as: UTF8.self).contains(word))
        }
    }

    /// Returns everything up to the end of a pipe, read on a thread that may block.
    private static func end(of pipe: FileHandle) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try pipe.readToEnd() ?? Data() }) }
        }
    }
}
