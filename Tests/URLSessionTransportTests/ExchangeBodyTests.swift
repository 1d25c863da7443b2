import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeBodyTests {
    private let start = ContinuousClock.now

    // MARK: Lengths

    @Test func `a body with fewer bytes than announced is truncated`() throws {
        var state = try makeReceiving(.make(200, length: 10))
        _ = state.received(Data("short".utf8), at: after(2))
        #expect(state.finished(lateHead: nil, at: after(3)).isEnd)
        #expect(try state.read().result?.get() == Data("short".utf8))
        let failure = state.read().result?.failure
        #expect(failure?.code == .truncatedBody)
        #expect(failure?.message == "the body ended after 5 of 10 bytes")
        #expect(try state.read().result?.get() == .some(.none))
    }

    @Test(arguments: [(HTTPRequest.Method.head, 200), (.get, 204), (.get, 304)])
    func `a missing body is no truncation where there is none`(method: HTTPRequest.Method, status: Int) throws {
        var state = try makeReceiving(.make(status, length: 10), method: method)
        _ = state.finished(lateHead: nil, at: after(2))
        #expect(try state.read().result?.get() == .some(.none))
    }

    @Test func `the announced length is not the decoded one when the body is encoded`() throws {
        var head = HTTPResponse.make(200, length: 10)
        head.headerFields[.contentEncoding] = "gzip"
        var state = try makeReceiving(head)
        #expect(state.received(Data("abc".utf8), at: after(2)).progress?.expected == nil)
        #expect(state.collect(upTo: 5, at: after(2)).reading.result == nil)
        #expect(try state.finished(lateHead: nil, at: after(3)).reading?.get() == Data("abc".utf8))
        #expect(state.metrics(at: after(3)).responseWireBytes == nil)
    }

    @Test func `a broken body is not collected, whether the reader or the end comes first`() throws {
        for readerIsFirst in [true, false] {
            var state = try makeReceiving(.make(200, length: 10))
            _ = state.received(Data("short".utf8), at: after(2))
            var result = readerIsFirst ? state.collect(upTo: nil, at: after(3)).reading.result : nil
            #expect(result == nil)
            let end = state.failed(NetworkError(.connectionLost, ""), cancellingTask: false, at: after(4))
            result = readerIsFirst ? end.reading : state.collect(upTo: nil, at: after(5)).reading.result
            #expect(result?.failure?.code == .truncatedBody)
            #expect(try state.read().result?.get() == .some(.none))
        }
    }

    // MARK: Limits

    @Test func `a body at the limit is collected`() throws {
        var state = try makeReceiving(.make(200)) { $0.maximumBodyBytes = 3 }
        #expect(state.collect(upTo: nil, at: after(1)).reading.result == nil)
        #expect(state.received(Data("abc".utf8), at: after(2)).reading == nil, "collecting waits for the whole body")
        #expect(try state.finished(lateHead: nil, at: after(3)).reading?.get() == Data("abc".utf8))
    }

    @Test func `a body above the limit is refused and the task cancelled`() throws {
        var state = try makeReceiving(.make(200)) { $0.maximumBodyBytes = 3 }
        #expect(state.collect(upTo: nil, at: after(1)).reading.result == nil)
        let reaction = state.received(Data("abcd".utf8), at: after(2))
        #expect(reaction.reading?.failure?.code == .bodyTooLarge)
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try state.read().result?.get() == .some(.none))
    }

    @Test func `a body is refused when more than the limit is there`() throws {
        var state = try makeReceiving(.make(200))
        _ = state.received(Data("abcd".utf8), at: after(2))
        let (reading, reaction) = state.collect(upTo: 3, at: after(3))
        #expect(reading.result?.failure?.code == .bodyTooLarge)
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try state.read().result?.get() == .some(.none))
    }

    @Test func `a body is refused unread when its announced length is above the limit`() throws {
        var state = try makeReceiving(.make(200, length: 1_000_000))
        let (reading, reaction) = state.collect(upTo: 999_999, at: after(1))
        #expect(reading.result?.failure?.code == .bodyTooLarge)
        #expect(reaction.isEnd && reaction.cancelsTask)
    }

    @Test func `the rest is collected when it is within the limit`() throws {
        var state = try makeReceiving(.make(200, length: 4))
        _ = state.received(Data("abc".utf8), at: after(2))
        #expect(try state.read().result?.get() == Data("abc".utf8))
        #expect(state.collect(upTo: 1, at: after(3)).reading.result == nil)
        _ = state.received(Data("d".utf8), at: after(4))
        #expect(try state.finished(lateHead: nil, at: after(5)).reading?.get() == Data("d".utf8))
    }

    @Test func `unread bytes have a limit, of which the reader hears after them`() throws {
        let piece = Data(count: 100_000)
        var state = try makeReceiving(.make(200)) { $0.maximumBodyBytes = 300_000 }
        for _ in 0..<3 { #expect(!state.received(piece, at: after(2)).isEnd) }
        let reaction = state.received(piece, at: after(3))
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try state.read().result?.get()?.count == 300_000)
        #expect(state.read().result?.failure?.code == .bodyTooLarge)
        #expect(try state.read().result?.get() == .some(.none))
    }

    @Test func `read bytes have no limit`() throws {
        let piece = Data(count: 200_000)
        var state = try makeReceiving(.make(200)) { $0.maximumBodyBytes = 0 }
        for _ in 0..<100 {
            #expect(!state.received(piece, at: after(2)).isEnd)
            #expect(try state.read().result?.get()?.count == 200_000)
        }
        #expect(state.metrics(at: after(3)).responseBodyBytes == 20_000_000)
    }

    // MARK: Readers

    @Test func `a second reader is refused, and the first goes on`() throws {
        var state = try makeReceiving(.make(200, length: 3))
        #expect(state.read().result == nil)
        #expect(state.read().result?.failure?.code == .bodyAlreadyRead)
        let (reading, reaction) = state.collect(upTo: 0, at: after(1))
        #expect(reading.result?.failure?.code == .bodyAlreadyRead)
        #expect(!reaction.isEnd)
        #expect(try state.received(Data("abc".utf8), at: after(2)).reading?.get() == Data("abc".utf8))
    }

    @Test func `a dropped body cancels the task when much or an unknown rest is to come`() throws {
        for length in [nil, 100_000] {
            var state = try makeReceiving(.make(200, length: length))
            _ = state.received(Data("abc".utf8), at: after(2))
            let reaction = state.discard(at: after(3))
            #expect(reaction.isEnd && reaction.cancelsTask && reaction.reading == nil)
        }
    }

    @Test func `a dropped body is awaited for a moment when its rest is small`() throws {
        var state = try makeReceiving(.make(200, length: 10_000))
        let reaction = state.discard(at: after(3))
        #expect(!reaction.isEnd && reaction.setsAlarm)
        #expect(state.nextDeadline == after(1003))
        var other = state
        let rest = state.received(Data(count: 10_000), at: after(4))
        #expect(!rest.isEnd && rest.progress == nil)
        let end = state.finished(lateHead: nil, at: after(5))
        #expect(end.isEnd && !end.cancelsTask)
        #expect(other.alarm(at: after(1003)).cancelsTask)
    }

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// Returns an exchange whose head was delivered 1 ms after the start.
    private func makeReceiving(
        _ head: HTTPResponse,
        method: HTTPRequest.Method = .get,
        _ tune: (inout TransportOptions) -> Void = { _ in }
    ) throws -> ExchangeState {
        var state = ExchangeState(try makeRequest(method: method, tune), at: start)
        let isWanted = state.begin()
        #expect(isWanted)
        #expect(state.received(head, at: after(1)).head != nil)
        return state
    }
}
