import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeStateTests {
    private let start = ContinuousClock.now

    @Test func `an exchange delivers head, then body, then its end`() throws {
        var state = try makeRunning(method: .post)
        state.sent(totalBytes: 3, at: after(1))
        #expect(try state.received(.make(200, length: 4), at: after(2)).head?.get().status == .ok)
        let first = state.received(Data("ab".utf8), at: after(3))
        #expect(first.progress?.received == 2 && first.reading == nil, "no reader waits")
        #expect(try state.read().result?.get() == Data("ab".utf8))
        #expect(state.read().result == nil, "there is no more data yet")
        let second = state.received(Data("cd".utf8), at: after(4))
        #expect(try second.reading?.get() == Data("cd".utf8))
        #expect(second.progress?.received == 4 && second.progress?.expected == 4)
        #expect(state.read().result == nil)
        #expect(state.metrics(at: after(4)).total == .milliseconds(4))
        let reaction = state.finished(lateHead: nil, at: after(5))
        #expect(try reaction.reading?.get() == .some(.none))
        #expect(reaction.isEnd && !reaction.cancelsTask && reaction.head == nil)
        let metrics = state.metrics(at: after(1000))
        #expect(metrics.total == .milliseconds(5))
        #expect(metrics.firstByte == .milliseconds(2))
        #expect(metrics.requestBodyBytes == 3)
        #expect(metrics.responseBodyBytes == 4)
        #expect(metrics.responseWireBytes == 4)
    }

    @Test func `the end comes once, whatever follows`() throws {
        var state = try makeRunning()
        _ = state.received(.make(200), at: after(1))
        #expect(state.finished(lateHead: nil, at: after(2)).isEnd)
        for reaction in [
            state.cancel(at: after(3)),
            state.failed(NetworkError(.connectionLost, ""), cancellingTask: false, at: after(3)),
            state.finished(lateHead: nil, at: after(3)), state.received(Data("x".utf8), at: after(3)),
            state.received(.make(200), at: after(3)), state.alarm(at: after(1_000_000)),
            state.connectionChecked(isOpen: false, at: after(1_000_000)), state.discard(at: after(3)),
        ] {
            #expect(reaction.head == nil && reaction.reading == nil && !reaction.isEnd && !reaction.cancelsTask)
            #expect(reaction.progress == nil && !reaction.setsAlarm)
        }
        #expect(state.nextDeadline == nil)
    }

    // MARK: Cancellation

    @Test func `a cancellation before the start is remembered`() throws {
        var state = ExchangeState(try makeRequest(), at: start)
        let reaction = state.cancel(at: start)
        #expect(reaction.failure?.code == .cancelled)
        #expect(!reaction.cancelsTask, "there is no task yet")
        let isWanted = state.begin()
        #expect(!isWanted)
    }

    @Test func `a cancellation cancels a running task`() throws {
        var state = try makeRunning()
        let reaction = state.cancel(at: after(1))
        #expect(reaction.failure?.code == .cancelled)
        #expect(reaction.cancelsTask && reaction.isEnd)
    }

    @Test func `a cancellation goes to the reader after the head`() throws {
        var state = try makeRunning()
        _ = state.received(.make(200), at: after(1))
        #expect(state.read().result == nil)
        let reaction = state.cancel(at: after(2))
        #expect(reaction.head == nil)
        #expect(reaction.reading?.failure?.code == .cancelled)
        #expect(reaction.reading?.failure?.phase == .receiving)
        #expect(reaction.cancelsTask)
        #expect(try state.read().result?.get() == .some(.none), "the failure is reported once")
    }

    // MARK: Heads

    @Test func `interim responses are left out`() throws {
        var state = try makeRunning()
        #expect(state.received(.make(103), at: after(1)).head == nil)
        #expect(try state.received(.make(200), at: after(2)).head?.get().status == .ok)
        #expect(state.metrics(at: after(3)).firstByte == .milliseconds(2))
    }

    @Test func `an exchange fails when only an interim response came`() throws {
        var state = try makeRunning()
        _ = state.received(.make(103), at: after(1))
        #expect(state.finished(lateHead: nil, at: after(2)).failure?.code == .invalidResponse)
    }

    @Test func `an exchange fails when a second head comes`() throws {
        var state = try makeRunning()
        _ = state.received(.make(200), at: after(1))
        let reaction = state.received(.make(200), at: after(2))
        #expect(reaction.isEnd && reaction.cancelsTask && reaction.head == nil)
        #expect(state.read().result?.failure?.code == .invalidResponse)
    }

    @Test func `the head of a proxy is replaced by the response's`() throws {
        var state = ExchangeState(try makeRequest("https://a.example/"), throughProxy: true, at: start)
        let isWanted = state.begin()
        #expect(isWanted)
        #expect(state.received(.make(200), at: after(1)).head == nil)
        #expect(try state.received(.make(404), at: after(2)).head?.get().status == .notFound)
    }

    @Test func `a head that may be a proxy's comes with the body or the end`() throws {
        for hasBody in [true, false] {
            var state = ExchangeState(try makeRequest("https://a.example/"), throughProxy: true, at: start)
            let isWanted = state.begin()
            #expect(isWanted)
            #expect(state.received(.make(200), at: after(1)).head == nil)
            let reaction =
                hasBody ? state.received(Data("x".utf8), at: after(2)) : state.finished(lateHead: nil, at: after(2))
            #expect(try reaction.head?.get().status == .ok)
        }
    }

    @Test func `the task's own head counts when none was delivered`() throws {
        var state = try makeRunning()
        let head = try state.finished(lateHead: .make(302, length: 9), at: after(1)).head?.get()
        #expect(head?.status == .found)
        #expect(state.metrics(at: after(1)).firstByte == nil)
        #expect(try state.read().result?.get() == .some(.none))
    }

    @Test func `a challenge ends the response and cancels the task`() throws {
        var state = try makeRunning()
        #expect(try state.received(.make(401, length: 2), at: after(1)).head?.get().status == .unauthorized)
        _ = state.received(Data("no".utf8), at: after(2))
        let reaction = state.finished(lateHead: nil, cancellingTask: true, at: after(3))
        #expect(reaction.isEnd && reaction.cancelsTask)
        #expect(try state.collect(upTo: nil, at: after(4)).reading.result?.get() == Data("no".utf8))
    }

    // MARK: Helpers

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func makeRunning(
        method: HTTPRequest.Method = .get,
        _ tune: (inout TransportOptions) -> Void = { _ in }
    ) throws -> ExchangeState {
        var state = ExchangeState(try makeRequest(method: method, tune), at: start)
        let isWanted = state.begin()
        #expect(isWanted)
        return state
    }
}

func makeRequest(
    _ url: String = "http://127.0.0.1:8080/",
    method: HTTPRequest.Method = .get,
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

extension ExchangeState {
    /// Reads as a reader that is within all timeouts.
    mutating func read() -> BodyInbox.Reading { read(at: .now - .seconds(3600)).reading }
}

extension BodyInbox.Reading {
    /// The result for the reader, or `nil` if it waits.
    var result: Result<Data?, NetworkError>? {
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
