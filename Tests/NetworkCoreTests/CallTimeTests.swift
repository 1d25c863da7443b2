import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// Checks that the total timeout and cancellation cover the work of a call after its response has arrived.
@Suite(.patience(minutes: 1))
struct CallTimeTests {
    /// Enough for what comes before the slow part.
    private static let total = Duration.seconds(patienceFactor)

    private func client(_ body: String, totalTimeout: Duration? = total) -> NetworkClient {
        var client = NetworkClient(transport: AnsweringTransport(.init(body: body)))
        client.options.totalTimeout = totalTimeout
        return client
    }

    /// Blocks the thread until the timeout has passed; or, if asked to, until the task is cancelled.
    private static func linger(endsWithTask: Bool = false) {
        let late = ContinuousClock.now + total
        while ContinuousClock.now < late, !(endsWithTask && Task.isCancelled) { usleep(1_000) }
    }

    /// A decoder that can't be interrupted, and returns only after the timeout or after its task's cancellation.
    private static let slow = ClosureResponseDecoder { _, _ in
        Self.linger(endsWithTask: true)
        return "late"
    }

    private let request = RequestData(path: "http://127.0.0.1/")

    @Test func `a value that comes too late is a timeout`() async throws {
        let error = await expectFailure(.totalTimeout) {
            try await client("x").with { $0.decoder = Self.slow }.send(request, as: String.self)
        }
        #expect(error?.phase == .decoding)
        #expect(error?.exchange?.method == "GET")
        #expect(error?.response == nil, "validation did not refuse the response")
        let patient = client("x", totalTimeout: nil).with { $0.decoder = Self.slow }
        #expect(try await patient.send(request, as: String.self).body == "late")
    }

    @Test func `a decoder's failure that comes too late is a timeout`() async throws {
        let failing = ClosureResponseDecoder { _, _ in
            Self.linger()
            throw CocoaError(.coderReadCorrupt)
        }
        let client = client("x").with { $0.decoder = failing }
        await expectFailure(.totalTimeout) { try await client.send(request, as: String.self) }
        await expectFailure(.decodingFailed) {
            try await client.with { $0.options.totalTimeout = nil }.send(request, as: String.self)
        }
    }

    @Test func `a cancellation during the decoding is noted`() async throws {
        let started = Gate()
        let client = client("x", totalTimeout: nil).with {
            $0.decoder = .using { _, _ in
                started.open()
                while !Task.isCancelled {}
                return "late"
            }
        }
        let reading = Task { try await client.send(request, as: String.self).body }
        try await started.wait()
        reading.cancel()
        await expectFailure(.cancelled) { try await reading.value }
    }

    @Test func `lines of one chunk end with the time`() async throws {
        let lines = try await client("1\n2\n3\n").send(request, as: .lines)
        var iterator = lines.body.makeAsyncIterator()
        #expect(try await iterator.next() == "1")
        try await Task.sleep(for: Self.total)
        let error = await expectFailure(.totalTimeout) { try await iterator.next() }
        #expect(error?.exchange != nil)
        #expect(try await iterator.next() == nil)
    }

    @Test func `blank JSON lines end with the task`() async throws {
        let client = client(String(repeating: "\n", count: 200_000) + "1\n", totalTimeout: nil)
        let reading = Task {
            var values = try await client.send(request, as: .jsonLines(of: Int.self)).body.makeAsyncIterator()
            withUnsafeCurrentTask { $0?.cancel() }
            return try await values.next()
        }
        await expectFailure(.cancelled) { try await reading.value }
    }

    @Test func `lines across the cuts of a large chunk are whole`() async throws {
        let expected = (0..<50_000).map { "line number \($0)" }
        var lines: [String] = []
        let client = client(expected.joined(separator: "\r\n"), totalTimeout: nil)
        for try await line in try await client.send(request, as: .lines).body { lines.append(line) }
        #expect(lines == expected)
    }

    @Test func `a text that comes too late is a timeout`() async throws {
        var late = client("x")
        late.validation = .custom { _ in Self.linger() }
        await expectFailure(.totalTimeout) { try await late.send(request, as: .text) }
    }
}
