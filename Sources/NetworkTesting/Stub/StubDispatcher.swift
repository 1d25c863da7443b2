public import NetworkCore
import Foundation
import Synchronization

/// A transport without a network: it answers what a test has stubbed, fails loudly for everything else, and keeps what
/// was sent.
///
/// ```swift
/// let stub = StubDispatcher()
/// stub.when(.get("/users"), .json([User(id: 1, name: "Ada")]))
/// stub.when(.post("/users"), .status(503), .json(User(id: 2, name: "Bo"), status: 201))
///
/// let users = try await GetUsers().send(over: stub).body
/// #expect(stub.sent.first?.target == "/users?page=1")
/// try stub.checkAllUsed()
/// ```
///
/// Stubs are asked in the order in which they were added; the first that matches and has an answer left gives it. An
/// answer is given once; ``always(_:_:)`` gives the same one again and again. A request for which there is none fails
/// with ``NetworkCore/NetworkError/Code/notStubbed``, which names the request and what is stubbed.
///
/// It is an ``NetworkCore/HTTPTransport``: a client with interceptors works over it as over a real one, and the request
/// is checked against ``capabilities`` in the same way.
public final class StubDispatcher: HTTPTransport {
    /// `stub`.
    public let name = "stub"
    /// Everything, unless told otherwise.
    public let capabilities: TransportCapabilities

    private let clock: any Clock<Duration>
    private let stubs = Guarded(StubList())

    /// A stub that knows no answer yet.
    /// - Parameters:
    ///   - clock: What delays wait on; a ``ManualClock`` makes them take no time.
    ///   - lacking: What the transport can't do, to test how a program copes with that.
    public init(clock: any Clock<Duration> = ContinuousClock(), lacking: Set<TransportCapabilities.Capability> = []) {
        self.clock = clock
        capabilities = TransportCapabilities(
            transport: "stub",
            basis: "what a test has stubbed",
            supported: Set(TransportCapabilities.Capability.wellKnown).subtracting(lacking)
        )
    }

    /// A stub that answers every request alike.
    public convenience init(always answer: StubAnswer) {
        self.init()
        always(.any, answer)
    }

    /// Answers matching requests, one after the other, each answer once.
    /// - Parameters:
    ///   - matcher: Which requests.
    ///   - answers: What they get.
    @discardableResult
    public func when(_ matcher: StubMatcher, _ answers: StubAnswer...) -> Self {
        stubs.withLock { $0.add(matcher, answers: answers, repeats: false) }
        return self
    }

    /// Answers all matching requests alike.
    @discardableResult
    public func always(_ matcher: StubMatcher, _ answer: StubAnswer) -> Self {
        stubs.withLock { $0.add(matcher, answers: [answer], repeats: true) }
        return self
    }

    /// What was sent so far, in its order; requests that were not stubbed are among them.
    public var sent: [SentRequest] { stubs.withLock(\.sent) }

    /// Checks that each answer was given (one that is always given: at least once) and that nothing else was asked.
    /// - Throws: ``StubFailure`` that lists what is left and what was not stubbed.
    public func checkAllUsed() throws {
        let problems = stubs.withLock(\.problems)
        guard problems.isEmpty else { throw StubFailure(problems: problems) }
    }

    /// Gives the first answer that is left for the request, after its delay. A delay beyond one of the request's
    /// timeouts ends in that timeout, one before a piece of the body too; after the total timeout each read fails.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            try request.check(for: capabilities)
            let time = clock.stubTime(of: request.options)
            let sent = SentRequest(request, body: try await SentRequest.collect(request.body))
            let answer = try stubs.withLock { try $0.answer(to: sent) }
            return try await give(answer, to: sent, request, time)
        } catch {
            throw (error as? NetworkError)?.during(request, transport: name, elapsed: .zero) ?? error
        }
    }

    private func give(
        _ answer: StubAnswer, to sent: SentRequest, _ request: TransportRequest, _ time: StubTime
    ) async throws -> TransportResponse {
        try await time.wait(answer.delay, for: .head)
        switch answer.outcome {
        case .failure(let error): throw error
        case .computed(let make): return try await give(try make(sent), to: sent, request, time)
        case .response(let head, let body):
            return TransportResponse(
                head: head,
                body: TransportResponse.Body(source: StubBody(body, of: request, time: time)),
                metrics: TransportMetrics(total: answer.delay)
            )
        }
    }
}

extension NetworkError.Code {
    /// A `StubDispatcher` was asked for what a test did not stub.
    public static let notStubbed = Self(rawValue: "notStubbed")
}

/// Why ``StubDispatcher/checkAllUsed()`` failed.
public struct StubFailure: Error, Sendable, CustomStringConvertible {
    /// One sentence for each answer that was not given and each request that was not stubbed, without the request's
    /// query; ``StubDispatcher/sent`` has all of it.
    public let problems: [String]

    /// The problems, one a line.
    public var description: String { problems.joined(separator: "\n") }
}
