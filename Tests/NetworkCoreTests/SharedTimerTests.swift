import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite("The shared timer", .patience(minutes: 1))
struct SharedTimerTests {
    private let timer = SharedTimer()

    @Test(arguments: [-1_000, 0, 1, 20, 300] as [Int])
    func `a wait ends at its time and not before`(milliseconds: Int) async {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        await timer.wait(until: end)
        #expect(ContinuousClock.now >= end)
        #expect(timer.waitingCount == 0)
    }

    @Test func `of many waits none ends before its time, and a later one that ends earlier is not held up`() async {
        let (timer, start) = (timer, ContinuousClock.now)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                let end = start + .milliseconds(number * 37 % 500)
                group.addTask {
                    await timer.wait(until: end)
                    #expect(ContinuousClock.now >= end)
                }
            }
        }
        #expect(timer.waitingCount == 0)
    }

    @Test func `a cancelled wait ends at once and leaves nothing`() async throws {
        let timer = timer
        let waiting = (0..<100).map { number in
            Task { await timer.wait(until: .now + .seconds(3_600 + number % 7)) }
        }
        while timer.waitingCount < 100 { await Task.yield() }
        for task in waiting { task.cancel() }
        for task in waiting { await task.value }
        #expect(timer.waitingCount == 0)
    }

    @Test func `a wait in a cancelled task, and one that is cancelled at any time, ends`() async {
        let timer = timer
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2_000 {
                group.addTask {
                    let waiting = Task { await timer.wait(until: .now + .seconds(3_600)) }
                    await Task.yield()
                    waiting.cancel()
                    await waiting.value
                }
            }
        }
        #expect(timer.waitingCount == 0)
    }

    @Test func `a year is a time`() async {
        let waiting = Task { [timer] in await timer.wait(until: .now + TransportOptions.maximumTimeout) }
        while timer.waitingCount == 0 { await Task.yield() }
        // A later wait that ends earlier is not held up.
        await timer.wait(until: .now + .milliseconds(10))
        #expect(timer.waitingCount == 1)
        waiting.cancel()
        await waiting.value
    }

    /// Regression: each call with a timeout kept its sleep, some 700 bytes, until the timeout would have come.
    @Test func `a call that has ended keeps nothing for its timeout`() async {
        await #expect(processExitsWith: .success) {
            func residentBytes() throws -> Int {
                let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
                return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 4096
            }
            var client = NetworkClient(transport: ForgetfulTransport())
            client.interceptors = [RequestAdapter { _ in }]
            client.options.totalTimeout = .seconds(3_600)
            func send(_ count: Int) async throws {
                for _ in 0..<count { _ = try await client.send(RequestData(path: "http://h/"), as: .text) }
            }
            try await send(2_000)
            let before = try residentBytes()
            try await send(20_000)
            #expect(try residentBytes() < before + 6_000_000)
        }
    }
}

/// A transport that responds at once, and records nothing.
private struct ForgetfulTransport: HTTPTransport {
    let name = "forgetful"
    let capabilities = TransportCapabilities(transport: "forgetful", basis: "a test", supported: [])

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(
            head: HTTPResponse(status: .ok), body: TransportResponse.Body(Data()),
            metrics: TransportMetrics(total: .milliseconds(1)))
    }
}
