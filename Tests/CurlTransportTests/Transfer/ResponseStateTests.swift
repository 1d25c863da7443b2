import NetworkCore
import Testing

@testable import CurlTransport

private let start = MonotonicTime(nanoseconds: 1_000)

private func after(_ seconds: Double) -> MonotonicTime { start + .milliseconds(Int(seconds * 1_000)) }

@Suite("A response's state")
struct ResponseStateTests {
    private var state = ResponseState(now: start)

    /// Receives lines of a head.
    /// - Returns: The verdict about the last one.
    @discardableResult
    private mutating func receive(_ lines: String..., at seconds: Double = 0) -> ResponseState.HeaderVerdict {
        lines.map { state.receive(headerLine: Array(($0 + "\r\n").utf8), at: after(seconds)) }.last ?? .proceed
    }

    private var failure: NetworkError.Code? { (state.failure as? NetworkError)?.code }

    @Test mutating func `the head is complete once`() {
        for line in ["HTTP/1.1 103 Early", "", "HTTP/1.1 200 OK"] { #expect(receive(line) == .proceed) }
        #expect(receive("") == .headIsComplete)
        #expect(state.receiveBody(at: start) == true)
        #expect(receive("Trailer: 1") == .proceed)
        #expect(state.head.trailerBytes == Array("Trailer: 1\r\n".utf8))
    }

    @Test mutating func `a head without end stops`() {
        let long = "A: " + String(repeating: "a", count: ResponseHeadBuffer.maximumBytes)
        #expect(receive("HTTP/1.1 200 OK", long) == .stop)
        #expect(failure == .responseHeadTooLarge)
    }

    /// libcurl reads all of them in one call, and keeps a record of each line.
    @Test mutating func `the lines of all heads count together`() {
        var verdict = ResponseState.HeaderVerdict.proceed
        for _ in 0..<3 where verdict == .proceed {
            receive("HTTP/1.1 103 Early")
            for _ in 0..<ResponseState.maximumHeaderLines / 2 - 1 where verdict == .proceed { verdict = receive("A:") }
            if verdict == .proceed { verdict = receive("") }
        }
        #expect(verdict == .stop && failure == .responseHeadTooLarge)
    }

    /// Regression: the response before a repeat ended the first-byte timeout.
    @Test mutating func `a request that goes out again waits for its own response`() {
        state.goesOut(at: start)
        for round in [1.0, 2] {
            #expect(!state.hasFinalResponse && !state.hasResponse)
            receive("HTTP/1.1 401 No", "")
            #expect(state.hasFinalResponse && state.hasResponse)
            state.goesOut(at: after(round))
            #expect(state.wentOut == after(round) && state.lastActivity == after(round))
        }
        receive("HTTP/1.1 103 Early")
        #expect(state.hasResponse && !state.hasFinalResponse)
        receive("", "HTTP/1.1 200 OK")
        #expect(state.hasFinalResponse)
    }

    @Test mutating func `the first reason to fail counts`() {
        state.fail(NetworkError.cancelled)
        state.fail(NetworkError.idleTimeout)
        #expect(failure == .cancelled)
        #expect(state.receiveBody(at: start) == false)
        #expect(receive("HTTP/1.1 200 OK") == .stop)
    }

    @Test mutating func `arriving bytes are activity`() {
        receive("HTTP/1.1 200 OK", at: 1)
        #expect(state.lastActivity == after(1))
        _ = state.receiveBody(at: after(2))
        #expect(state.lastActivity == after(2))
    }

    @Test mutating func `bytes that have gone out are activity, and bytes that had before are not`() {
        // In the end, libcurl starts over on another connection.
        for (sent, seconds, last) in [(0, 1.0, 0.0), (10, 2, 2), (10, 3, 2), (5, 4, 4)] {
            state.sent(sent, by: after(seconds))
            #expect(state.lastActivity == after(last))
        }
    }
}

@Suite("A transfer's clocks")
struct TransferClocksTests {
    /// Clocks, and what they say at some time, in seconds after the start.
    private struct Clocks {
        var clocks: TransferClocks

        init(connect: Double? = nil, idle: Double? = nil, total: Double? = nil, admitted: Double? = nil) {
            func time(_ seconds: Double?) -> Duration? { seconds.map { .milliseconds(Int($0 * 1_000)) } }
            var options = TransportOptions()
            (options.connectTimeout, options.idleTimeout, options.totalTimeout) = (
                time(connect), time(idle), time(total)
            )
            clocks = TransferClocks(sent: start, options: options)
            if let admitted { clocks.admit(at: after(admitted)) }
        }

        mutating func check(
            _ seconds: Double, isConnected: Bool = false, activity: Double = 0, isSending: Bool = false,
            waitsForLookUp: Bool = false, waiting: Int = 0
        ) -> TransferClocks.Verdict {
            clocks.check(
                at: after(seconds), isConnected: isConnected, lastActivity: after(activity), isSending: isSending,
                waitsForLookUp: waitsForLookUp, waiting: waiting)
        }
    }

    private func again(_ seconds: Double) -> TransferClocks.Verdict { .lookAgain(after(seconds)) }

    @Test func `a request in the queue has only the total timeout`() {
        var waiting = Clocks(connect: 1, idle: 1, total: 5)
        #expect(waiting.check(2) == again(2.25) && waiting.check(5) == .fail(.totalTimeout))
        var endless = Clocks(idle: 1)
        #expect(endless.check(9) == .neverAgain)
    }

    /// Regression: each of 100,000 requests in the queue was looked at four times within each connect timeout.
    @Test func `requests in the queue are looked at 50,000 times a second at most`() {
        var waiting = Clocks(connect: 0.1, total: 5)
        for (count, seconds) in [(1, 0.025), (100_000, 2), (1_000_000, 5)] {
            #expect(waiting.check(0, waiting: count) == again(seconds))
        }
    }

    /// Regression: a request that waited for a place failed for a lookup that nothing had begun, and one that returned
    /// to the queue failed at once.
    @Test func `the wait for a lookup counts from its begin`() {
        var waiting = Clocks(connect: 4)
        #expect(waiting.check(0) == again(1) && waiting.check(9, waitsForLookUp: true) == again(13))
        #expect(waiting.check(12) == again(13) && waiting.check(13, waitsForLookUp: true) == again(17))
        #expect(waiting.check(17, waitsForLookUp: true) == .fail(.connectTimeout))
        waiting.clocks.admit(at: after(18))
        waiting.clocks.connectAnew(at: after(19))
        waiting.clocks.returnToQueue()
        #expect(waiting.check(60) == again(61))
        // An earlier wait does not count.
        #expect(waiting.check(61, waitsForLookUp: true) == again(65))
        waiting.clocks.admit(at: after(62))
        waiting.clocks.returnToQueue()
        #expect(waiting.check(90, waitsForLookUp: true) == again(94))
    }

    @Test func `the connect timeout starts when its turn comes`() {
        var one = Clocks(connect: 3, admitted: 10)
        #expect(one.check(12) == again(13) && one.check(13) == .fail(.connectTimeout))
        #expect(one.check(13, isConnected: true) == .neverAgain)
    }

    @Test func `the idle timeout counts from the last activity`() {
        var one = Clocks(idle: 2, admitted: 0)
        #expect(one.check(2, isConnected: true, activity: 1) == again(3))
        #expect(one.check(3, isConnected: true, activity: 1) == .fail(.idleTimeout))
    }

    @Test func `a body that goes out is looked at eight times`() {
        var one = Clocks(idle: 2, admitted: 0)
        for isConnected in [false, true] {
            #expect(one.check(0, isConnected: isConnected, isSending: true) == again(0.25))
        }
        #expect(one.check(2, isConnected: true, isSending: true) == .fail(.idleTimeout))
    }

    @Test func `while it connects, nothing is idle, but it is looked at in time`() {
        var one = Clocks(connect: 60, idle: 2, admitted: 0)
        #expect(one.check(2) == again(4))
    }

    @Test func `a drained exchange ends at its deadline`() {
        var one = Clocks(admitted: 0)
        one.clocks.drain(until: after(1))
        #expect(one.check(0, isConnected: true) == again(1))
        #expect(one.check(1, isConnected: true) == .fail(.cancelled))
    }

    @Test func `the total timeout wins`() {
        var one = Clocks(connect: 1, idle: 1, total: 1, admitted: 0)
        #expect(one.check(1) == .fail(.totalTimeout))
    }

    @Test func `an admission before the send counts as one at the send`() {
        var one = Clocks(connect: 1)
        one.clocks.admit(at: MonotonicTime(nanoseconds: 0))
        #expect(one.clocks.admitted == start)
    }

    @Test func `waits are rounded up to milliseconds`() {
        #expect(start.milliseconds(until: start + .nanoseconds(1)) == 1)
        #expect(start.milliseconds(until: after(0.007)) == 7)
        #expect(after(1).milliseconds(until: start) == 0)
        #expect(start.milliseconds(until: after(365 * 86_400)) == Int32.max)
    }
}
