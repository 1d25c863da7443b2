import Foundation
import NetworkCore
import NetworkRecording
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ReplayTimingTests {
    private let clock = ManualClock()

    /// A head after 1 s, chunks after 2 and 5 s.
    private var recording: Recording {
        var metrics = TransportMetrics(total: .seconds(5))
        metrics.firstByte = .milliseconds(900)
        let response = Recording.Response(
            status: 200, body: .init(Data("onetwo".utf8)),
            chunks: [.init(time: .seconds(2), count: 3), .init(time: .seconds(5), count: 3)], headTime: .seconds(1))
        return Recording(entries: [
            Recording.Entry(request: .init(url: "http://h/a"), response: response, metrics: metrics),
            Recording.Entry(
                request: .init(url: "http://h/failing"),
                failure: .init(code: .connectFailed, message: "refused", phase: .connecting, time: .seconds(3))),
        ])
    }

    private var transport: ReplayTransport { ReplayTransport(recording, timing: .recorded, clock: clock) }

    /// Sends a request, and moves the clock to its head.
    private func head(_ change: (inout TransportOptions) -> Void = { _ in }) async throws -> TransportResponse {
        var request = try TransportRequest(to: "http://h/a")
        change(&request.options)
        let sending = Task { [transport, request] in try await transport.send(request) }
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(999))
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(1))
        return try await sending.value
    }

    @Test func `the head and each chunk arrive at their recorded times`() async throws {
        let response = try await head()
        let reading = Task { [clock] in
            var times: [Duration] = []
            for try await _ in response.body { times.append(clock.now.offset) }
            return times
        }
        for _ in 0..<4 {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
        }
        #expect(try await reading.value == [.seconds(2), .seconds(5)])
        #expect(response.metrics.firstByte == .milliseconds(900))
    }

    @Test func `without timing nothing is waited for`() async throws {
        let transport = ReplayTransport(recording, clock: clock)
        #expect(try await transport.send(TransportRequest(to: "http://h/a")).body.chunks().count == 2)
        await expectFailure(.connectFailed) { try await transport.get("http://h/failing") }
        #expect(clock.now.offset == .zero)
    }

    @Test func `a failure comes at its recorded time`() async throws {
        let sending = Task { [transport] in try await transport.get("http://h/failing") }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3))
        let error = await expectFailure(.connectFailed) { try await sending.value }
        #expect(error?.phase == .connecting)
        #expect(error?.message == "refused")
        #expect(error?.exchange?.elapsed == .seconds(3))
    }

    @Test func `a chunk that comes too late is a timeout`() async throws {
        let response = try await head { $0.totalTimeout = .seconds(4) }
        let reading = Task { try await response.body.collect() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        let error = await expectFailure(.totalTimeout) { try await reading.value }
        #expect(error?.phase == .receiving)
    }
}
