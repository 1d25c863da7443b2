import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeDeadlineTests {
    private let start = ContinuousClock.now

    @Test func `the next deadline is the earliest`() throws {
        let state = try makeRunning(connect: 30, idle: 20, total: 10)
        #expect(state.nextDeadline == after(10))
    }

    /// Regression: the clock began with the task, which FoundationNetworking starts on the queue of all exchanges.
    @Test(arguments: [NetworkError.Code.totalTimeout, .connectTimeout])
    func `an exchange that is not begun has its deadlines`(code: NetworkError.Code) async throws {
        var request = TransportRequest(url: try RequestURL("http://127.0.0.1:1/"))
        (request.options.connectTimeout, request.options.idleTimeout) = (nil, nil)
        if code == .totalTimeout {
            request.options.totalTimeout = .milliseconds(50)
        } else {
            request.options.connectTimeout = .milliseconds(50)
        }
        let (commands, alarms) = (DispatchQueue(label: "commands"), DispatchQueue(label: "alarms"))
        commands.suspend()
        let exchange = Exchange(ExchangeState(request, at: .now), commands: commands, alarms: alarms)
        let error = await #expect(throws: NetworkError.self) {
            try await withCheckedThrowingContinuation { exchange.attach($0) }
        }
        #expect(error?.code == code)
        commands.resume()
        #expect(!exchange.begin())
    }

    /// Regression: a connection of another exchange to the same origin counted as its own.
    @Test func `an exchange that is not begun has no connection, whatever the table says`() throws {
        var request = TransportRequest(url: try RequestURL("http://127.0.0.1/"))
        (request.options.connectTimeout, request.options.idleTimeout) = (.milliseconds(10), .milliseconds(60))
        var state = ExchangeState(request, at: start)
        #expect(!state.alarm(at: after(9)).isEnd)
        let reaction = state.alarm(at: after(10))
        #expect(reaction.isEnd && reaction.checksConnection == nil)
        #expect(reaction.head?.failure?.code == .connectTimeout)
    }

    @Test func `without timeouts, there is no next deadline`() throws {
        var state = try makeRunning()
        #expect(state.nextDeadline == nil)
        #expect(!state.alarm(at: after(1_000_000)).isEnd)
    }

    @Test func `the next deadline leaves the connect timeout out, once connected`() throws {
        var state = try makeRunning(connect: 10, idle: 20)
        state.sent(totalBytes: 1, at: after(5))
        #expect(state.nextDeadline == after(25))
    }

    @Test func `the total timeout ends the exchange, however much moves`() throws {
        var state = try makeRunning(idle: 50, total: 100)
        _ = state.received(.make(200), at: after(90))
        _ = state.received(Data("x".utf8), at: after(99))
        let reaction = state.alarm(at: after(100))
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try state.read().result?.get() == Data("x".utf8))
        #expect(state.read().result?.failure?.code == .totalTimeout)
    }

    @Test func `the total timeout counts until the last byte is read`() throws {
        for isCollected in [false, true] {
            var state = try makeRunning(total: 100)
            _ = state.received(.make(200), at: after(10))
            _ = state.received(Data("x".utf8), at: after(20))
            #expect(state.finished(lateHead: nil, at: after(30)).isEnd)
            let late =
                isCollected ? state.collect(upTo: nil, at: after(100)) : state.read(at: after(100))
            #expect(late.reading.result?.failure?.code == .totalTimeout)
            #expect(try state.read(at: after(101)).reading.result?.get() == .some(.none))
        }
    }

    @Test func `the total timeout is kept if the last byte was read in time`() throws {
        var state = try makeRunning(total: 100)
        _ = state.received(.make(200), at: after(10))
        _ = state.received(Data("x".utf8), at: after(20))
        _ = state.finished(lateHead: nil, at: after(30))
        #expect(try state.read(at: after(99)).reading.result?.get() == Data("x".utf8))
        #expect(try state.read(at: after(200)).reading.result?.get() == .some(.none))
    }

    @Test func `arriving bytes move the idle timeout`() throws {
        var state = try makeRunning(idle: 50)
        _ = state.received(.make(200), at: after(10))
        _ = state.received(Data("x".utf8), at: after(40))
        #expect(!state.alarm(at: after(60)).isEnd)
        #expect(state.nextDeadline == after(90))
        #expect(state.alarm(at: after(90)).isEnd)
        _ = state.read()
        #expect(state.read().result?.failure?.code == .idleTimeout)
    }

    @Test func `sent bytes move the idle timeout`() throws {
        var state = try makeRunning(idle: 50)
        state.sent(totalBytes: 10, at: after(40))
        #expect(!state.alarm(at: after(60)).isEnd)
        let failure = state.alarm(at: after(90)).failure
        #expect(failure?.code == .idleTimeout)
        #expect(failure?.phase == .waiting)
    }

    @Test func `the connect timeout asks for the connection when time is up without a sign`() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        #expect(state.alarm(at: after(9)).checksConnection == nil)
        let reaction = state.alarm(at: after(10))
        #expect(reaction.checksConnection == after(10) && !reaction.isEnd)
    }

    @Test func `the connect timeout ends the exchange when there is no connection`() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        let reaction = state.connectionChecked(isOpen: false, at: after(10))
        #expect(reaction.failure?.code == .connectTimeout)
        #expect(reaction.failure?.phase == .connecting)
        #expect(reaction.cancelsTask)
    }

    @Test func `the connect timeout leaves a slow response to the idle timeout`() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        #expect(!state.connectionChecked(isOpen: true, at: after(10)).isEnd)
        #expect(state.nextDeadline == after(60))
        #expect(state.alarm(at: after(60)).failure?.code == .idleTimeout)
    }

    @Test func `the idle timeout does not count before there is a connection`() throws {
        var state = try makeRunning(connect: 100, idle: 30)
        #expect(state.alarm(at: after(30)).checksConnection != nil)
        #expect(!state.connectionChecked(isOpen: false, at: after(30)).isEnd)
        #expect(state.nextDeadline == after(60))
    }

    @Test func `the idle timeout ends the exchange when its check finds a connection`() throws {
        var state = try makeRunning(connect: 100, idle: 30)
        #expect(state.connectionChecked(isOpen: true, at: after(30)).failure?.code == .idleTimeout)
    }

    @Test func `a check is ignored when a sign came meanwhile`() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        #expect(state.alarm(at: after(10)).checksConnection != nil)
        _ = state.received(.make(200), at: after(11))
        #expect(!state.connectionChecked(isOpen: false, at: after(12)).isEnd)
        #expect(state.nextDeadline == after(71))
    }

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func makeRunning(connect: Int? = nil, idle: Int? = nil, total: Int? = nil) throws -> ExchangeState {
        let request = try makeRequest { options in
            options.connectTimeout = connect.map { .milliseconds($0) }
            options.idleTimeout = idle.map { .milliseconds($0) }
            options.totalTimeout = total.map { .milliseconds($0) }
        }
        var state = ExchangeState(request, at: start)
        let isWanted = state.begin()
        #expect(isWanted)
        return state
    }
}
