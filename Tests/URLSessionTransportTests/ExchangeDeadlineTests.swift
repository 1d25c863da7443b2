import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeDeadlineTests {
    private func running(connect: Int? = nil, idle: Int? = nil, total: Int? = nil) throws -> TimedExchange {
        try TimedExchange {
            $0.connectTimeout = connect.map { .milliseconds($0) }
            $0.idleTimeout = idle.map { .milliseconds($0) }
            $0.totalTimeout = total.map { .milliseconds($0) }
        }
    }

    @Test func `the next deadline is the earliest`() throws {
        #expect(try running(connect: 30, idle: 20, total: 10).deadline == 10)
    }

    /// Regression: the clock began with the task, which FoundationNetworking starts on the queue of all exchanges.
    @Test(arguments: [NetworkError.Code.totalTimeout, .connectTimeout])
    func `an exchange that is not begun has its deadlines`(code: NetworkError.Code) async throws {
        let request = try makeRequest("http://127.0.0.1:1/") {
            ($0.connectTimeout, $0.idleTimeout) = (nil, nil)
            if code == .totalTimeout {
                $0.totalTimeout = .milliseconds(50)
            } else {
                $0.connectTimeout = .milliseconds(50)
            }
        }
        let (commands, alarms) = (DispatchQueue(label: "commands"), DispatchQueue(label: "alarms"))
        commands.suspend()
        let exchange = Exchange(ExchangeState(request, at: .now), commands: commands, alarms: alarms)
        await expectFailure(code) { try await withCheckedThrowingContinuation { exchange.attach($0) } }
        commands.resume()
        #expect(!exchange.begin())
    }

    /// Regression: a connection of another exchange to the same origin counted as its own.
    @Test func `an exchange that is not begun has no connection, whatever the table says`() throws {
        var exchange = try TimedExchange(begins: false) {
            ($0.connectTimeout, $0.idleTimeout) = (.milliseconds(10), .milliseconds(60))
        }
        #expect(!exchange.alarm(at: 9).isEnd)
        let reaction = exchange.alarm(at: 10)
        #expect(reaction.isEnd && reaction.checksConnection == nil)
        #expect(reaction.head?.failure?.code == .connectTimeout)
    }

    @Test func `without timeouts, there is no next deadline`() throws {
        var exchange = try running()
        #expect(exchange.deadline == nil)
        #expect(!exchange.alarm(at: 1_000_000).isEnd)
    }

    @Test func `the next deadline leaves the connect timeout out, once connected`() throws {
        var exchange = try running(connect: 10, idle: 20)
        exchange.sent(1, at: 5)
        #expect(exchange.deadline == 25)
    }

    // MARK: The total timeout

    @Test func `the total timeout ends the exchange, however much moves`() throws {
        var exchange = try running(idle: 50, total: 100)
        _ = exchange.received(.make(200), at: 90)
        _ = exchange.received("x", at: 99)
        let reaction = exchange.alarm(at: 100)
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try exchange.read()?.get() == Data("x".utf8))
        #expect(exchange.read()?.failure?.code == .totalTimeout)
    }

    /// Returns an exchange that has ended in time.
    private func ended() throws -> TimedExchange {
        var exchange = try running(total: 100)
        _ = exchange.received(.make(200), at: 10)
        _ = exchange.received("x", at: 20)
        #expect(exchange.finished(at: 30).isEnd)
        return exchange
    }

    @Test(arguments: [false, true])
    func `the total timeout counts until the last byte is read`(isCollected: Bool) throws {
        var exchange = try ended()
        let late = isCollected ? exchange.collect(at: 100).result : exchange.read(at: 100)
        #expect(late?.failure?.code == .totalTimeout)
        #expect(try exchange.read(at: 101)?.get() == .some(.none))
    }

    @Test func `the total timeout is kept if the last byte was read in time`() throws {
        var exchange = try ended()
        #expect(try exchange.read(at: 99)?.get() == Data("x".utf8))
        #expect(try exchange.read(at: 200)?.get() == .some(.none))
    }

    // MARK: The idle timeout

    @Test func `arriving bytes move the idle timeout`() throws {
        var exchange = try running(idle: 50)
        _ = exchange.received(.make(200), at: 10)
        _ = exchange.received("x", at: 40)
        #expect(!exchange.alarm(at: 60).isEnd && exchange.deadline == 90)
        #expect(exchange.alarm(at: 90).isEnd)
        _ = exchange.read()
        #expect(exchange.read()?.failure?.code == .idleTimeout)
    }

    @Test func `sent bytes move the idle timeout`() throws {
        var exchange = try running(idle: 50)
        exchange.sent(10, at: 40)
        #expect(!exchange.alarm(at: 60).isEnd)
        let failure = exchange.alarm(at: 90).failure
        #expect(failure?.code == .idleTimeout && failure?.phase == .waiting)
    }

    // MARK: The connect timeout

    @Test func `the connect timeout asks for the connection when time is up without a sign`() throws {
        var exchange = try running(connect: 10, idle: 60)
        #expect(exchange.alarm(at: 9).checksConnection == nil)
        let reaction = exchange.alarm(at: 10)
        #expect(reaction.checksConnection == exchange.time(10) && !reaction.isEnd)
    }

    @Test func `the connect timeout ends the exchange when there is no connection`() throws {
        var exchange = try running(connect: 10, idle: 60)
        let reaction = exchange.checked(isOpen: false, at: 10)
        #expect(reaction.failure?.code == .connectTimeout && reaction.failure?.phase == .connecting)
        #expect(reaction.cancelsTask)
    }

    @Test func `the connect timeout leaves a slow response to the idle timeout`() throws {
        var exchange = try running(connect: 10, idle: 60)
        #expect(!exchange.checked(isOpen: true, at: 10).isEnd && exchange.deadline == 60)
        #expect(exchange.alarm(at: 60).failure?.code == .idleTimeout)
    }

    @Test(arguments: [false, true])
    func `the idle timeout counts when its check finds a connection, and not before`(isOpen: Bool) throws {
        var exchange = try running(connect: 100, idle: 30)
        #expect(exchange.alarm(at: 30).checksConnection != nil)
        let failure = exchange.checked(isOpen: isOpen, at: 30).failure
        #expect(failure?.code == (isOpen ? .idleTimeout : nil))
        if !isOpen { #expect(exchange.deadline == 60) }
    }

    @Test func `a check is ignored when a sign came meanwhile`() throws {
        var exchange = try running(connect: 10, idle: 60)
        #expect(exchange.alarm(at: 10).checksConnection != nil)
        _ = exchange.received(.make(200), at: 11)
        #expect(!exchange.checked(isOpen: false, at: 12).isEnd && exchange.deadline == 71)
    }
}
