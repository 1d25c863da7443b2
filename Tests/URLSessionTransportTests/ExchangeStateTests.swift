import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ExchangeStateTests {
    private let start = ContinuousClock.now

    @Test func exchange_returnsHeadBodyAndMetrics_whenItEndsWell() async throws {
        var state = try makeRunning(method: .post)
        state.sent(totalBytes: 3, at: after(1))
        #expect(state.received(.make(200, length: 4), at: after(2)).outcome == nil)
        #expect(state.received(Data("ab".utf8), at: after(3)).progress?.received == 2)
        let last = state.received(Data("cd".utf8), at: after(4)).progress
        #expect(last?.received == 4 && last?.expected == 4)
        let reaction = state.finished(lateHead: nil, at: after(5))
        let response = try #require(try reaction.outcome?.get())
        #expect(response.head.status == .ok)
        #expect(try await response.body.collect() == Data("abcd".utf8))
        #expect(response.metrics.total == .milliseconds(5))
        #expect(response.metrics.firstByte == .milliseconds(2))
        #expect(response.metrics.requestBodyBytes == 3)
        #expect(response.metrics.responseBodyBytes == 4)
        #expect(response.metrics.responseWireBytes == 4)
        #expect(!reaction.cancelsTask)
    }

    @Test func outcome_isDeliveredOnce_whateverFollows() throws {
        var state = try makeRunning()
        _ = state.received(.make(200), at: after(1))
        #expect(state.finished(lateHead: nil, at: after(2)).outcome != nil)
        for reaction in [
            state.cancel(), state.failed(NetworkError(.connectionLost, ""), cancellingTask: false),
            state.finished(lateHead: nil, at: after(3)), state.received(Data("x".utf8), at: after(3)),
            state.received(.make(200), at: after(3)), state.alarm(at: after(1_000_000)),
            state.connectionChecked(isOpen: false, at: after(1_000_000)),
        ] {
            #expect(reaction.outcome == nil && !reaction.cancelsTask && reaction.progress == nil)
        }
        #expect(state.nextDeadline == nil)
    }

    // MARK: Cancellation

    @Test func cancellation_isRemembered_whenItComesBeforeTheStart() throws {
        var state = ExchangeState(try makeRequest(), at: start)
        let reaction = state.cancel()
        #expect(reaction.failure?.code == .cancelled)
        #expect(!reaction.cancelsTask, "there is no task yet")
        let isWanted = state.begin()
        #expect(!isWanted)
    }

    @Test func cancellation_cancelsTheTask_whenItRuns() throws {
        var state = try makeRunning()
        _ = state.received(.make(200), at: after(1))
        let reaction = state.cancel()
        #expect(reaction.failure?.code == .cancelled)
        #expect(reaction.failure?.phase == .receiving)
        #expect(reaction.cancelsTask)
    }

    // MARK: Heads

    @Test func interimResponses_areLeftOut() throws {
        var state = try makeRunning()
        _ = state.received(.make(103), at: after(1))
        _ = state.received(.make(200), at: after(2))
        let response = try #require(try state.finished(lateHead: nil, at: after(3)).outcome?.get())
        #expect(response.head.status == .ok)
        #expect(response.metrics.firstByte == .milliseconds(2))
    }

    @Test func exchange_fails_whenOnlyAnInterimResponseCame() throws {
        var state = try makeRunning()
        _ = state.received(.make(103), at: after(1))
        #expect(state.finished(lateHead: nil, at: after(2)).failure?.code == .invalidResponse)
    }

    @Test func tasksOwnHead_counts_whenNoneWasDelivered() throws {
        var state = try makeRunning()
        let response = try #require(try state.finished(lateHead: .make(302, length: 9), at: after(1)).outcome?.get())
        #expect(response.head.status == .found)
        #expect(response.metrics.firstByte == nil)
    }

    @Test func challenge_endsTheResponseAndCancelsTheTask() throws {
        var state = try makeRunning()
        _ = state.received(.make(401, length: 2), at: after(1))
        _ = state.received(Data("no".utf8), at: after(2))
        let reaction = state.finished(lateHead: nil, cancellingTask: true, at: after(3))
        #expect(try reaction.outcome?.get().head.status == .unauthorized)
        #expect(reaction.cancelsTask)
    }

    // MARK: Bodies

    @Test func body_isTruncated_whenItHasFewerBytesThanAnnounced() throws {
        var state = try makeRunning()
        _ = state.received(.make(200, length: 10), at: after(1))
        _ = state.received(Data("short".utf8), at: after(2))
        let failure = state.finished(lateHead: nil, at: after(3)).failure
        #expect(failure?.code == .truncatedBody)
        #expect(failure?.message == "the body ended after 5 of 10 bytes")
    }

    @Test(arguments: [(HTTPMethod.head, 200), (.get, 204), (.get, 304)])
    func missingBody_isNoTruncation_whereThereIsNone(method: HTTPMethod, status: Int) throws {
        var state = try makeRunning(method: method)
        _ = state.received(.make(status, length: 10), at: after(1))
        #expect(try state.finished(lateHead: nil, at: after(2)).outcome?.get().head.status.code == status)
    }

    @Test func announcedLength_isNotTheDecodedOne_whenTheBodyIsEncoded() throws {
        var state = try makeRunning { $0.maximumBodyBytes = 5 }
        var head = HTTPResponse.make(200, length: 10)
        head.headerFields[.contentEncoding] = "gzip"
        #expect(state.received(head, at: after(1)).outcome == nil)
        #expect(state.received(Data("abc".utf8), at: after(2)).progress?.expected == nil)
        let response = try #require(try state.finished(lateHead: nil, at: after(3)).outcome?.get())
        #expect(response.metrics.responseWireBytes == nil)
    }

    @Test func body_isAccepted_atTheLimit() throws {
        var state = try makeRunning { $0.maximumBodyBytes = 3 }
        _ = state.received(.make(200), at: after(1))
        #expect(state.received(Data("abc".utf8), at: after(2)).outcome == nil)
        #expect(try state.finished(lateHead: nil, at: after(3)).outcome?.get() != nil)
    }

    @Test func body_isRefusedAndTheTaskCancelled_aboveTheLimit() throws {
        var state = try makeRunning { $0.maximumBodyBytes = 3 }
        _ = state.received(.make(200), at: after(1))
        let reaction = state.received(Data("abcd".utf8), at: after(2))
        #expect(reaction.failure?.code == .bodyTooLarge)
        #expect(reaction.cancelsTask)
    }

    @Test func body_isRefusedUnread_whenItsAnnouncedLengthIsAboveTheLimit() throws {
        var state = try makeRunning { $0.maximumBodyBytes = 3 }
        #expect(state.received(.make(200, length: 4), at: after(1)).failure?.code == .bodyTooLarge)
    }

    // MARK: Helpers

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func makeRunning(
        method: HTTPMethod = .get,
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
    method: HTTPMethod = .get,
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
    var failure: NetworkError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }
}
