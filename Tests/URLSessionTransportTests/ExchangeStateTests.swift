import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeStateTests {
    @Test func `an exchange delivers head, then body, then its end`() throws {
        var exchange = try TimedExchange(method: .post)
        exchange.sent(3, at: 1)
        #expect(try exchange.received(.make(200, length: 4), at: 2).head?.get().status == .ok)
        let first = exchange.received("ab", at: 3)
        #expect(first.progress?.received == 2 && first.reading == nil, "no reader waits")
        #expect(try exchange.read()?.get() == Data("ab".utf8))
        #expect(exchange.read() == nil, "there is no more data yet")
        let second = exchange.received("cd", at: 4)
        #expect(try second.reading?.get() == Data("cd".utf8))
        #expect(second.progress?.received == 4 && second.progress?.expected == 4)
        #expect(exchange.read() == nil)
        #expect(exchange.metrics(at: 4).total == .milliseconds(4))
        let reaction = exchange.finished(at: 5)
        #expect(try reaction.reading?.get() == .some(.none))
        #expect(reaction.isEnd && !reaction.cancelsTask && reaction.head == nil)
        let metrics = exchange.metrics(at: 1000)
        #expect(metrics.total == .milliseconds(5) && metrics.firstByte == .milliseconds(2))
        #expect(metrics.requestBodyBytes == 3)
        #expect(metrics.responseBodyBytes == 4 && metrics.responseWireBytes == 4)
    }

    @Test func `the end comes once, whatever follows`() throws {
        var exchange = try TimedExchange()
        _ = exchange.received(.make(200), at: 1)
        #expect(exchange.finished(at: 2).isEnd)
        let time = exchange.time(3)
        for reaction in [
            exchange.state.cancel(at: time),
            exchange.state.failed(NetworkError(.connectionLost, ""), cancellingTask: false, at: time),
            exchange.finished(at: 3), exchange.received("x", at: 3), exchange.received(.make(200), at: 3),
            exchange.alarm(at: 1_000_000), exchange.checked(isOpen: false, at: 1_000_000),
            exchange.state.discard(at: time),
        ] {
            #expect(reaction.head == nil && reaction.reading == nil && !reaction.isEnd && !reaction.cancelsTask)
            #expect(reaction.progress == nil && !reaction.setsAlarm)
        }
        #expect(exchange.deadline == nil)
    }

    // MARK: Cancellation

    @Test func `a cancellation before the start is remembered`() throws {
        var exchange = try TimedExchange(begins: false)
        let reaction = exchange.state.cancel(at: exchange.time(0))
        #expect(reaction.failure?.code == .cancelled)
        #expect(!reaction.cancelsTask, "there is no task yet")
        let isWanted = exchange.state.begin()
        #expect(!isWanted)
    }

    @Test func `a cancellation cancels a running task`() throws {
        var exchange = try TimedExchange()
        let reaction = exchange.state.cancel(at: exchange.time(1))
        #expect(reaction.failure?.code == .cancelled && reaction.cancelsTask && reaction.isEnd)
    }

    @Test func `a cancellation goes to the reader after the head`() throws {
        var exchange = try TimedExchange()
        _ = exchange.received(.make(200), at: 1)
        #expect(exchange.read() == nil)
        let reaction = exchange.state.cancel(at: exchange.time(2))
        #expect(reaction.head == nil && reaction.cancelsTask)
        #expect(reaction.reading?.failure?.code == .cancelled && reaction.reading?.failure?.phase == .receiving)
        #expect(exchange.hasEnded() == true, "the failure is reported once")
    }

    // MARK: Heads

    @Test func `interim responses are left out`() throws {
        var exchange = try TimedExchange()
        #expect(exchange.received(.make(103), at: 1).head == nil)
        #expect(try exchange.received(.make(200), at: 2).head?.get().status == .ok)
        #expect(exchange.metrics(at: 3).firstByte == .milliseconds(2))
    }

    @Test func `an exchange fails when only an interim response came`() throws {
        var exchange = try TimedExchange()
        _ = exchange.received(.make(103), at: 1)
        #expect(exchange.finished(at: 2).failure?.code == .invalidResponse)
    }

    @Test func `an exchange fails when a second head comes`() throws {
        var exchange = try TimedExchange()
        _ = exchange.received(.make(200), at: 1)
        let reaction = exchange.received(.make(200), at: 2)
        #expect(reaction.isEnd && reaction.cancelsTask && reaction.head == nil)
        #expect(exchange.read()?.failure?.code == .invalidResponse)
    }

    enum Next: CaseIterable { case head, body, end }

    @Test(arguments: Next.allCases)
    func `a head that may be a proxy's is replaced by the response's, or comes with the body or the end`(
        next: Next
    ) throws {
        var exchange = try TimedExchange("https://a.example/", throughProxy: true)
        #expect(exchange.received(.make(200), at: 1).head == nil)
        let reaction =
            switch next {
            case .head: exchange.received(.make(404), at: 2)
            case .body: exchange.received("x", at: 2)
            case .end: exchange.finished(at: 2)
            }
        #expect(try reaction.head?.get().status == (next == .head ? .notFound : .ok))
    }

    @Test func `the task's own head counts when none was delivered`() throws {
        var exchange = try TimedExchange()
        #expect(try exchange.finished(lateHead: .make(302, length: 9), at: 1).head?.get().status == .found)
        #expect(exchange.metrics(at: 1).firstByte == nil)
        #expect(exchange.hasEnded() == true)
    }

    @Test func `a challenge ends the response and cancels the task`() throws {
        var exchange = try TimedExchange()
        #expect(try exchange.received(.make(401, length: 2), at: 1).head?.get().status == .unauthorized)
        _ = exchange.received("no", at: 2)
        let reaction = exchange.state.finished(lateHead: nil, cancellingTask: true, at: exchange.time(3))
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try exchange.collect(at: 4).result?.get() == Data("no".utf8))
    }
}

/// The state of an exchange that has begun, with times in milliseconds after its start.
struct TimedExchange {
    var state: ExchangeState
    private let start = ContinuousClock.now

    init(
        _ url: String = "http://127.0.0.1:8080/", method: HTTPRequest.Method = .get, throughProxy: Bool = false,
        begins: Bool = true, _ tune: (inout TransportOptions) -> Void = { _ in }
    ) throws {
        state = ExchangeState(try makeRequest(url, method: method, tune), throughProxy: throughProxy, at: start)
        guard begins else { return }
        let isWanted = state.begin()
        #expect(isWanted)
    }

    func time(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    /// The next deadline, in milliseconds after the start.
    var deadline: Int? { state.nextDeadline.map { Int(($0 - start) / .milliseconds(1)) } }

    /// Whether the reader gets the end.
    mutating func hasEnded() -> Bool {
        if case .success(nil)? = read() { true } else { false }
    }

    mutating func sent(_ bytes: Int, at milliseconds: Int) { state.sent(totalBytes: bytes, at: time(milliseconds)) }

    mutating func received(_ head: HTTPResponse, at milliseconds: Int) -> ExchangeState.Reaction {
        state.received(head, at: time(milliseconds))
    }

    mutating func received(_ text: String, at milliseconds: Int) -> ExchangeState.Reaction {
        state.received(Data(text.utf8), at: time(milliseconds))
    }

    mutating func finished(lateHead: HTTPResponse? = nil, at milliseconds: Int) -> ExchangeState.Reaction {
        state.finished(lateHead: lateHead, at: time(milliseconds))
    }

    mutating func alarm(at milliseconds: Int) -> ExchangeState.Reaction { state.alarm(at: time(milliseconds)) }

    mutating func checked(isOpen: Bool, at milliseconds: Int) -> ExchangeState.Reaction {
        state.connectionChecked(isOpen: isOpen, at: time(milliseconds))
    }

    /// Returns the result for a reader, or `nil` if it waits: at the start, for one that is within all timeouts.
    mutating func read(at milliseconds: Int = 0) -> Result<Data?, NetworkError>? {
        state.read(at: time(milliseconds)).reading.result
    }

    mutating func collect(
        upTo limit: Int? = nil, at milliseconds: Int
    ) -> (result: Result<Data?, NetworkError>?, reaction: ExchangeState.Reaction) {
        let (reading, reaction) = state.collect(upTo: limit, at: time(milliseconds))
        return (reading.result, reaction)
    }

    func metrics(at milliseconds: Int) -> TransportMetrics { state.metrics(at: time(milliseconds)) }
}

func makeRequest(
    _ url: String = "http://127.0.0.1:8080/", method: HTTPRequest.Method = .get,
    _ tune: (inout TransportOptions) -> Void = { _ in }
) throws -> TransportRequest {
    var request = TransportRequest(method: method, url: try RequestURL(url))
    tune(&request.options)
    return request
}

extension HTTPResponse {
    static func make(_ status: Int, length: Int? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.contentLength] = length.map(String.init)
        return response
    }
}

extension ExchangeState.Reaction {
    /// The error in place of the head.
    var failure: NetworkError? { head.flatMap(\.failure) }
}

extension BodyInbox.Reading {
    fileprivate var result: Result<Data?, NetworkError>? {
        guard case .done(let result) = self else { return nil }
        return result
    }
}

extension Result where Failure == NetworkError {
    var failure: NetworkError? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
