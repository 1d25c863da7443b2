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
    public init(clock: any Clock<Duration> = ContinuousClock(), lacking: Set<TransportCapability> = []) {
        self.clock = clock
        capabilities = TransportCapabilities(
            transport: "stub",
            basis: "what a test has stubbed",
            supported: Set(TransportCapability.wellKnown).subtracting(lacking)
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
    /// timeouts ends in that timeout.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        do {
            try request.check(for: capabilities)
            let sent = SentRequest(request, body: try await SentRequest.collect(request.body))
            let answer = try stubs.withLock { try $0.answer(to: sent) }
            return try await give(answer, to: sent)
        } catch {
            throw (error as? NetworkError)?.during(request, transport: name, elapsed: .zero) ?? error
        }
    }

    private func give(_ answer: StubAnswer, to sent: SentRequest) async throws -> TransportResponse {
        try await wait(answer.delay, sent.options)
        switch answer.outcome {
        case .failure(let error): throw error
        case .computed(let make): return try await give(try make(sent), to: sent)
        case .response(let head, let body):
            let body = StubBody(body, limit: sent.options.maximumBodyBytes) { [clock] delay in
                try await Self.sleep(delay, on: clock)
            }
            return TransportResponse(
                head: head,
                body: ResponseBody(source: body),
                metrics: TransportMetrics(total: answer.delay)
            )
        }
    }

    private func wait(_ delay: Duration, _ options: TransportOptions) async throws {
        let timeouts: [(Duration?, NetworkError)] = [
            (options.totalTimeout, .totalTimeout), (options.idleTimeout, .idleTimeout),
            (options.firstByteTimeout, NetworkError(.firstByteTimeout, "nothing of the response in time")),
        ]
        let first = timeouts.compactMap { time, error in time.map { ($0, error) } }.min { $0.0 < $1.0 }
        guard let (time, error) = first, time < delay else { return try await Self.sleep(delay, on: clock) }
        try await Self.sleep(time, on: clock)
        throw error
    }

    private static func sleep(_ delay: Duration, on clock: any Clock<Duration>) async throws {
        do {
            // What the system's clock can't count ends the process.
            if delay > .zero { try await clock.sleep(for: min(delay, .seconds(1 << 40))) }
            try Task.checkCancellation()
        } catch {
            throw NetworkError.cancelled
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
