import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeDeadlineTests {
    private let start = ContinuousClock.now

    @Test func nextDeadline_isTheEarliest() throws {
        let state = try makeRunning(connect: 30, idle: 20, total: 10)
        #expect(state.nextDeadline == after(10))
    }

    @Test func nextDeadline_isNone_withoutTimeouts() throws {
        var state = try makeRunning()
        #expect(state.nextDeadline == nil)
        #expect(!state.alarm(at: after(1_000_000)).isEnd)
    }

    @Test func nextDeadline_leavesTheConnectTimeoutOut_onceConnected() throws {
        var state = try makeRunning(connect: 10, idle: 20)
        state.sent(totalBytes: 1, at: after(5))
        #expect(state.nextDeadline == after(25))
    }

    @Test func total_endsTheExchange_howeverMuchMoves() throws {
        var state = try makeRunning(idle: 50, total: 100)
        _ = state.received(.make(200), at: after(90))
        _ = state.received(Data("x".utf8), at: after(99))
        let reaction = state.alarm(at: after(100))
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try state.read().result?.get() == Data("x".utf8))
        #expect(state.read().result?.failure?.code == .totalTimeout)
    }

    @Test func total_countsUntilTheLastByteIsRead() throws {
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

    @Test func total_isKept_ifTheLastByteWasReadInTime() throws {
        var state = try makeRunning(total: 100)
        _ = state.received(.make(200), at: after(10))
        _ = state.received(Data("x".utf8), at: after(20))
        _ = state.finished(lateHead: nil, at: after(30))
        #expect(try state.read(at: after(99)).reading.result?.get() == Data("x".utf8))
        #expect(try state.read(at: after(200)).reading.result?.get() == .some(.none))
    }

    @Test func idle_isMovedByWhatArrives() throws {
        var state = try makeRunning(idle: 50)
        _ = state.received(.make(200), at: after(10))
        _ = state.received(Data("x".utf8), at: after(40))
        #expect(!state.alarm(at: after(60)).isEnd)
        #expect(state.nextDeadline == after(90))
        #expect(state.alarm(at: after(90)).isEnd)
        _ = state.read()
        #expect(state.read().result?.failure?.code == .idleTimeout)
    }

    @Test func idle_isMovedByWhatIsSent() throws {
        var state = try makeRunning(idle: 50)
        state.sent(totalBytes: 10, at: after(40))
        #expect(!state.alarm(at: after(60)).isEnd)
        let failure = state.alarm(at: after(90)).failure
        #expect(failure?.code == .idleTimeout)
        #expect(failure?.phase == .waiting)
    }

    @Test func connect_asksForTheConnection_whenTimeIsUpWithoutASign() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        #expect(!state.alarm(at: after(9)).checksConnection)
        let reaction = state.alarm(at: after(10))
        #expect(reaction.checksConnection && !reaction.isEnd)
    }

    @Test func connect_endsTheExchange_whenThereIsNoConnection() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        let reaction = state.connectionChecked(isOpen: false, at: after(10))
        #expect(reaction.failure?.code == .connectTimeout)
        #expect(reaction.failure?.phase == .connecting)
        #expect(reaction.cancelsTask)
    }

    @Test func connect_leavesASlowAnswerToTheIdleTimeout_whenThereIsAConnection() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        #expect(!state.connectionChecked(isOpen: true, at: after(10)).isEnd)
        #expect(state.nextDeadline == after(60))
        #expect(state.alarm(at: after(60)).failure?.code == .idleTimeout)
    }

    @Test func idle_doesNotCount_beforeThereIsAConnection() throws {
        var state = try makeRunning(connect: 100, idle: 30)
        #expect(state.alarm(at: after(30)).checksConnection)
        #expect(!state.connectionChecked(isOpen: false, at: after(30)).isEnd)
        #expect(state.nextDeadline == after(60))
    }

    @Test func idle_endsTheExchange_whenItsCheckFindsAConnection() throws {
        var state = try makeRunning(connect: 100, idle: 30)
        #expect(state.connectionChecked(isOpen: true, at: after(30)).failure?.code == .idleTimeout)
    }

    @Test func check_isIgnored_whenASignCameMeanwhile() throws {
        var state = try makeRunning(connect: 10, idle: 60)
        #expect(state.alarm(at: after(10)).checksConnection)
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
