import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeBodyTests {
    /// Returns an exchange whose head was delivered 1 ms after the start.
    private func receiving(
        _ head: HTTPResponse, method: HTTPRequest.Method = .get, _ tune: (inout TransportOptions) -> Void = { _ in }
    ) throws -> TimedExchange {
        var exchange = try TimedExchange(method: method, tune)
        #expect(exchange.received(head, at: 1).head != nil)
        return exchange
    }

    // MARK: Lengths

    @Test func `a body with fewer bytes than announced is truncated`() throws {
        var exchange = try receiving(.make(200, length: 10))
        _ = exchange.received("short", at: 2)
        #expect(exchange.finished(at: 3).isEnd)
        #expect(try exchange.read()?.get() == Data("short".utf8))
        let failure = exchange.read()?.failure
        #expect(failure?.code == .truncatedBody && failure?.message == "the body ended after 5 of 10 bytes")
        #expect(exchange.hasEnded() == true)
    }

    @Test(arguments: [(HTTPRequest.Method.head, 200), (.get, 204), (.get, 304)])
    func `a missing body is no truncation where there is none`(method: HTTPRequest.Method, status: Int) throws {
        var exchange = try receiving(.make(status, length: 10), method: method)
        _ = exchange.finished(at: 2)
        #expect(exchange.hasEnded() == true)
    }

    @Test func `the announced length is not the decoded one when the body is encoded`() throws {
        var head = HTTPResponse.make(200, length: 10)
        head.headerFields[.contentEncoding] = "gzip"
        var exchange = try receiving(head)
        #expect(exchange.received("abc", at: 2).progress?.expected == nil)
        #expect(exchange.collect(upTo: 5, at: 2).result == nil)
        #expect(try exchange.finished(at: 3).reading?.get() == Data("abc".utf8))
        #expect(exchange.metrics(at: 3).responseWireBytes == nil)
    }

    @Test(arguments: [true, false])
    func `a broken body is not collected, whether the reader or the end comes first`(readerIsFirst: Bool) throws {
        var exchange = try receiving(.make(200, length: 10))
        _ = exchange.received("short", at: 2)
        if readerIsFirst { #expect(exchange.collect(at: 3).result == nil) }
        let end = exchange.state.failed(NetworkError(.connectionLost, ""), cancellingTask: false, at: exchange.time(4))
        let result = readerIsFirst ? end.reading : exchange.collect(at: 5).result
        #expect(result?.failure?.code == .truncatedBody)
        #expect(exchange.hasEnded() == true)
    }

    // MARK: Limits

    @Test func `a body at the limit is collected`() throws {
        var exchange = try receiving(.make(200)) { $0.maximumBodyBytes = 3 }
        #expect(exchange.collect(at: 1).result == nil)
        #expect(exchange.received("abc", at: 2).reading == nil, "collecting waits for the whole body")
        #expect(try exchange.finished(at: 3).reading?.get() == Data("abc".utf8))
    }

    @Test func `a body above the limit is refused and the task cancelled`() throws {
        var exchange = try receiving(.make(200)) { $0.maximumBodyBytes = 3 }
        #expect(exchange.collect(at: 1).result == nil)
        let reaction = exchange.received("abcd", at: 2)
        #expect(reaction.reading?.failure?.code == .bodyTooLarge && reaction.isEnd && reaction.cancelsTask)
        #expect(exchange.hasEnded() == true)
    }

    @Test(arguments: [(nil, "abcd", 3), (1_000_000, "", 999_999)] as [(Int?, String, Int)])
    func `a body is refused when more than the limit is there or announced`(
        length: Int?, arrived: String, limit: Int
    ) throws {
        var exchange = try receiving(.make(200, length: length))
        _ = exchange.received(arrived, at: 2)
        let (result, reaction) = exchange.collect(upTo: limit, at: 3)
        #expect(result?.failure?.code == .bodyTooLarge && reaction.isEnd && reaction.cancelsTask)
        #expect(exchange.hasEnded() == true)
    }

    @Test func `the rest is collected when it is within the limit`() throws {
        var exchange = try receiving(.make(200, length: 4))
        _ = exchange.received("abc", at: 2)
        #expect(try exchange.read()?.get() == Data("abc".utf8))
        #expect(exchange.collect(upTo: 1, at: 3).result == nil)
        _ = exchange.received("d", at: 4)
        #expect(try exchange.finished(at: 5).reading?.get() == Data("d".utf8))
    }

    @Test func `unread bytes have a limit, of which the reader hears after them`() throws {
        let piece = String(repeating: "x", count: 100_000)
        var exchange = try receiving(.make(200)) { $0.maximumBodyBytes = 300_000 }
        for _ in 0..<3 { #expect(!exchange.received(piece, at: 2).isEnd) }
        let reaction = exchange.received(piece, at: 3)
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try exchange.read()?.get()?.count == 300_000)
        #expect(exchange.read()?.failure?.code == .bodyTooLarge)
        #expect(exchange.hasEnded() == true)
    }

    @Test func `read bytes have no limit`() throws {
        let piece = String(repeating: "x", count: 200_000)
        var exchange = try receiving(.make(200)) { $0.maximumBodyBytes = 0 }
        for _ in 0..<100 {
            #expect(!exchange.received(piece, at: 2).isEnd)
            #expect(try exchange.read()?.get()?.count == 200_000)
        }
        #expect(exchange.metrics(at: 3).responseBodyBytes == 20_000_000)
    }

    // MARK: Readers

    @Test func `a second reader is refused, and the first goes on`() throws {
        var exchange = try receiving(.make(200, length: 3))
        #expect(exchange.read() == nil)
        #expect(exchange.read()?.failure?.code == .bodyAlreadyRead)
        let (result, reaction) = exchange.collect(upTo: 0, at: 1)
        #expect(result?.failure?.code == .bodyAlreadyRead && !reaction.isEnd)
        #expect(try exchange.received("abc", at: 2).reading?.get() == Data("abc".utf8))
    }

    @Test(arguments: [nil, 100_000])
    func `a dropped body cancels the task when much or an unknown rest is to come`(length: Int?) throws {
        var exchange = try receiving(.make(200, length: length))
        _ = exchange.received("abc", at: 2)
        let reaction = exchange.state.discard(at: exchange.time(3))
        #expect(reaction.isEnd && reaction.cancelsTask && reaction.reading == nil)
    }

    @Test func `a dropped body is awaited for a moment when its rest is small`() throws {
        var exchange = try receiving(.make(200, length: 10_000))
        let reaction = exchange.state.discard(at: exchange.time(3))
        #expect(!reaction.isEnd && reaction.setsAlarm)
        #expect(exchange.state.nextDeadline == exchange.time(1003))
        var other = exchange
        let rest = exchange.received(String(repeating: "x", count: 10_000), at: 4)
        #expect(!rest.isEnd && rest.progress == nil)
        let end = exchange.finished(at: 5)
        #expect(end.isEnd && !end.cancelsTask)
        #expect(other.alarm(at: 1003).cancelsTask)
    }
}
