import NetworkCore
import Testing

@testable import CurlTransport

@Suite("A response's state")
struct ResponseStateTests {
    private let start = MonotonicTime(nanoseconds: 1_000)

    private func after(_ duration: Duration) -> MonotonicTime { start + duration }

    private func line(_ text: String) -> [UInt8] { Array((text + "\r\n").utf8) }

    @Test func `the head is complete once`() {
        var state = ResponseState(now: start)
        #expect(state.receive(headerLine: line("HTTP/1.1 103 Early"), at: start) == .proceed)
        #expect(state.receive(headerLine: line(""), at: start) == .proceed)
        #expect(state.receive(headerLine: line("HTTP/1.1 200 OK"), at: start) == .proceed)
        #expect(state.receive(headerLine: line(""), at: start) == .headIsComplete)
        #expect(state.receiveBody(at: start) == true)
        #expect(state.receive(headerLine: line("Trailer: 1"), at: start) == .proceed)
        #expect(state.head.trailerBytes == line("Trailer: 1"))
    }

    @Test func `a head without end stops`() {
        var state = ResponseState(now: start)
        _ = state.receive(headerLine: line("HTTP/1.1 200 OK"), at: start)
        let long = line("A: " + String(repeating: "a", count: ResponseHeadBuffer.maximumBytes))
        #expect(state.receive(headerLine: long, at: start) == .stop)
        #expect((state.failure as? NetworkError)?.code == .responseHeadTooLarge)
    }

    /// libcurl reads all of them in one call, and keeps a record of each line.
    @Test func `the lines of all heads count together`() {
        var state = ResponseState(now: start)
        var verdict = ResponseState.HeaderVerdict.proceed
        for _ in 0..<3 where verdict == .proceed {
            _ = state.receive(headerLine: line("HTTP/1.1 103 Early"), at: start)
            for _ in 0..<ResponseState.maximumHeaderLines / 2 - 1 where verdict == .proceed {
                verdict = state.receive(headerLine: line("A:"), at: start)
            }
            if verdict == .proceed { verdict = state.receive(headerLine: line(""), at: start) }
        }
        #expect(verdict == .stop)
        #expect((state.failure as? NetworkError)?.code == .responseHeadTooLarge)
    }

    /// Regression: the response before a repeat ended the first-byte timeout.
    @Test func `a request that goes out again waits for its own response`() {
        var state = ResponseState(now: start)
        state.goesOut(at: start)
        for round in [1, 2] {
            #expect(!state.hasFinalResponse && !state.hasResponse)
            _ = state.receive(headerLine: line("HTTP/1.1 401 No"), at: start)
            _ = state.receive(headerLine: line(""), at: start)
            #expect(state.hasFinalResponse && state.hasResponse)
            state.goesOut(at: after(.seconds(round)))
            #expect(state.wentOut == after(.seconds(round)))
            #expect(state.lastActivity == after(.seconds(round)))
        }
        _ = state.receive(headerLine: line("HTTP/1.1 103 Early"), at: start)
        #expect(state.hasResponse && !state.hasFinalResponse)
        _ = state.receive(headerLine: line(""), at: start)
        _ = state.receive(headerLine: line("HTTP/1.1 200 OK"), at: start)
        #expect(state.hasFinalResponse)
    }

    @Test func `the first reason to fail counts`() {
        var state = ResponseState(now: start)
        state.fail(NetworkError.cancelled)
        state.fail(NetworkError.idleTimeout)
        #expect((state.failure as? NetworkError)?.code == .cancelled)
        #expect(state.receiveBody(at: start) == false)
        #expect(state.receive(headerLine: line("HTTP/1.1 200 OK"), at: start) == .stop)
    }

    @Test func `arriving bytes are activity`() {
        var state = ResponseState(now: start)
        _ = state.receive(headerLine: line("HTTP/1.1 200 OK"), at: after(.seconds(1)))
        #expect(state.lastActivity == after(.seconds(1)))
        _ = state.receiveBody(at: after(.seconds(2)))
        #expect(state.lastActivity == after(.seconds(2)))
    }

    @Test func `bytes that have gone out are activity, and bytes that had before are not`() {
        var state = ResponseState(now: start)
        state.sent(0, by: after(.seconds(1)))
        #expect(state.lastActivity == start)
        state.sent(10, by: after(.seconds(2)))
        state.sent(10, by: after(.seconds(3)))
        #expect(state.lastActivity == after(.seconds(2)))
        // libcurl starts over on another connection.
        state.sent(5, by: after(.seconds(4)))
        #expect(state.lastActivity == after(.seconds(4)))
    }

    // MARK: Clocks

    private func clocks(connect: Duration?, idle: Duration?, total: Duration?) -> TransferClocks {
        var options = TransportOptions()
        options.connectTimeout = connect
        options.idleTimeout = idle
        options.totalTimeout = total
        return TransferClocks(sent: start, options: options)
    }

    @Test func `a request in the queue has only the total timeout`() {
        var waiting = clocks(connect: .seconds(1), idle: .seconds(1), total: .seconds(5))
        #expect(
            waiting.check(at: after(.seconds(2)), isConnected: false, lastActivity: start)
                == .lookAgain(after(.milliseconds(2_250))))
        #expect(waiting.check(at: after(.seconds(5)), isConnected: false, lastActivity: start) == .fail(.totalTimeout))
        var endless = clocks(connect: nil, idle: .seconds(1), total: nil)
        #expect(endless.check(at: after(.seconds(9)), isConnected: false, lastActivity: start) == .neverAgain)
    }

    /// Regression: each of 100,000 requests in the queue was looked at four times within each connect timeout.
    @Test func `requests in the queue are looked at 50,000 times a second at most`() {
        var waiting = clocks(connect: .milliseconds(100), idle: nil, total: .seconds(5))
        func look(among count: Int) -> TransferClocks.Verdict {
            waiting.check(at: start, isConnected: false, lastActivity: start, waiting: count)
        }
        #expect(look(among: 1) == .lookAgain(after(.milliseconds(25))))
        #expect(look(among: 100_000) == .lookAgain(after(.seconds(2))))
        #expect(look(among: 1_000_000) == .lookAgain(after(.seconds(5))))
    }

    /// Regression: a request that waited for a place failed for a lookup that nothing had begun, and one that returned
    /// to the queue failed at once.
    @Test func `the wait for a lookup counts from its begin`() {
        var waiting = clocks(connect: .seconds(4), idle: nil, total: nil)
        func check(_ seconds: Int, _ waitsForLookUp: Bool) -> TransferClocks.Verdict {
            waiting.check(
                at: after(.seconds(seconds)), isConnected: false, lastActivity: start, waitsForLookUp: waitsForLookUp)
        }
        #expect(check(0, false) == .lookAgain(after(.seconds(1))))
        #expect(check(9, true) == .lookAgain(after(.seconds(13))))
        #expect(check(12, false) == .lookAgain(after(.seconds(13))))
        #expect(check(13, true) == .lookAgain(after(.seconds(17))))
        #expect(check(17, true) == .fail(.connectTimeout))
        waiting.admit(at: after(.seconds(18)))
        waiting.connectAnew(at: after(.seconds(19)))
        waiting.returnToQueue()
        #expect(check(60, false) == .lookAgain(after(.seconds(61))))
        // An earlier wait does not count.
        #expect(check(61, true) == .lookAgain(after(.seconds(65))))
        waiting.admit(at: after(.seconds(62)))
        waiting.returnToQueue()
        #expect(check(90, true) == .lookAgain(after(.seconds(94))))
    }

    @Test func `the connect timeout starts when its turn comes`() {
        var one = clocks(connect: .seconds(3), idle: nil, total: nil)
        one.admit(at: after(.seconds(10)))
        #expect(
            one.check(at: after(.seconds(12)), isConnected: false, lastActivity: start)
                == .lookAgain(after(.seconds(13))))
        #expect(one.check(at: after(.seconds(13)), isConnected: false, lastActivity: start) == .fail(.connectTimeout))
        #expect(one.check(at: after(.seconds(13)), isConnected: true, lastActivity: start) == .neverAgain)
    }

    @Test func `the idle timeout counts from the last activity`() {
        var one = clocks(connect: nil, idle: .seconds(2), total: nil)
        one.admit(at: start)
        #expect(
            one.check(at: after(.seconds(2)), isConnected: true, lastActivity: after(.seconds(1)))
                == .lookAgain(after(.seconds(3))))
        #expect(
            one.check(at: after(.seconds(3)), isConnected: true, lastActivity: after(.seconds(1)))
                == .fail(.idleTimeout))
    }

    @Test func `a body that goes out is looked at eight times`() {
        var one = clocks(connect: nil, idle: .seconds(2), total: nil)
        one.admit(at: start)
        for isConnected in [false, true] {
            #expect(
                one.check(at: start, isConnected: isConnected, lastActivity: start, isSending: true)
                    == .lookAgain(after(.milliseconds(250))))
        }
        #expect(
            one.check(at: after(.seconds(2)), isConnected: true, lastActivity: start, isSending: true)
                == .fail(.idleTimeout))
    }

    @Test func `while it connects, nothing is idle, but it is looked at in time`() {
        var one = clocks(connect: .seconds(60), idle: .seconds(2), total: nil)
        one.admit(at: start)
        #expect(
            one.check(at: after(.seconds(2)), isConnected: false, lastActivity: start) == .lookAgain(after(.seconds(4)))
        )
    }

    @Test func `a drained exchange ends at its deadline`() {
        var one = clocks(connect: nil, idle: nil, total: nil)
        one.admit(at: start)
        one.drain(until: after(.seconds(1)))
        #expect(one.check(at: start, isConnected: true, lastActivity: start) == .lookAgain(after(.seconds(1))))
        #expect(one.check(at: after(.seconds(1)), isConnected: true, lastActivity: start) == .fail(.cancelled))
    }

    @Test func `the total timeout wins`() {
        var one = clocks(connect: .seconds(1), idle: .seconds(1), total: .seconds(1))
        one.admit(at: start)
        #expect(one.check(at: after(.seconds(1)), isConnected: false, lastActivity: start) == .fail(.totalTimeout))
    }

    @Test func `an admission before the send counts as one at the send`() {
        var one = clocks(connect: .seconds(1), idle: nil, total: nil)
        one.admit(at: MonotonicTime(nanoseconds: 0))
        #expect(one.admitted == start)
    }

    @Test func `waits are rounded up to milliseconds`() {
        #expect(start.milliseconds(until: after(.nanoseconds(1))) == 1)
        #expect(start.milliseconds(until: after(.milliseconds(7))) == 7)
        #expect(after(.seconds(1)).milliseconds(until: start) == 0)
        #expect(start.milliseconds(until: after(.seconds(365 * 86_400))) == Int32.max)
    }
}
