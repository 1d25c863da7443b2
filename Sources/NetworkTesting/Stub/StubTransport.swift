public import NetworkCore
import Foundation
import Synchronization

/// A transport without a network. It gives the responses that a test has stubbed, fails with an error for every other
/// request, and records what was sent.
///
/// ```swift
/// let stub = StubTransport()
/// stub.when(.get("/users"), .json([User(id: 1, name: "Ada")]))
///
/// let users = try await GetUsers().send(over: stub).body
/// #expect(stub.sent.first?.target == "/users?page=1")
/// try stub.checkAllUsed()
/// ```
///
/// The transport tries the stubs in the order in which they were added; the first one that matches and has a response
/// left gives it. Each response is given once; ``always(_:_:)`` repeats its own. A request without a response fails
/// with ``NetworkCore/NetworkError/Code/notStubbed``, whose message names the request and the stubs.
///
/// The stub is a ``NetworkCore/HTTPTransport``: a client with interceptors works over it as over a real
/// transport, and checks requests against ``capabilities`` in the same way. A body is recorded as it would be sent,
/// compressed if the request asks for that; AWS signatures and the rounds of a Digest challenge are sent as over a real
/// transport, each round as a request of its own.
public final class StubTransport: HTTPTransport, NetworkDispatcher {
    /// The name of the transport, `stub`.
    public let name = "stub"
    /// The capabilities: all of them, except those passed as `lacking`.
    public let capabilities: TransportCapabilities

    private let clock: any Clock<Duration>
    private let stubs = Guarded(StubList())

    /// Creates a transport without stubs.
    /// - Parameters:
    ///   - clock: The clock of all delays and timeouts. With a ``ManualClock`` they take no time. Default:
    ///     `ContinuousClock`.
    ///   - lacking: The capabilities that the transport does not have, to test how a program copes without them.
    ///     Default: none.
    public init(clock: any Clock<Duration> = ContinuousClock(), lacking: Set<TransportCapabilities.Capability> = []) {
        self.clock = clock
        capabilities = TransportCapabilities(
            transport: "stub",
            basis: "what a test has stubbed",
            supported: Set(TransportCapabilities.Capability.wellKnown).subtracting(lacking),
            reasons: Dictionary(uniqueKeysWithValues: lacking.map { ($0, "the test's stub lacks it") })
        )
    }

    /// Creates a transport that gives the same response to every request.
    public convenience init(always response: StubResponse) {
        self.init()
        always(.any, response)
    }

    /// Stubs responses for matching requests. They are given in order, each of them once.
    /// - Parameters:
    ///   - matcher: The requests to match.
    ///   - responses: The responses, in order.
    @discardableResult
    public func when(_ matcher: StubMatcher, _ responses: StubResponse...) -> Self {
        stubs.withLock { $0.add(matcher, responses: responses, repeats: false) }
        return self
    }

    /// Stubs one response for all matching requests.
    @discardableResult
    public func always(_ matcher: StubMatcher, _ response: StubResponse) -> Self {
        stubs.withLock { $0.add(matcher, responses: [response], repeats: true) }
        return self
    }

    /// The requests sent so far, in order, including those without a stub.
    public var sent: [SentRequest] { stubs.withLock(\.sent) }

    /// Checks that each response was given (one of ``always(_:_:)`` at least once) and that every request had a stub.
    /// - Throws: ``StubFailure``, which lists the responses that are left and the requests without a stub.
    public func checkAllUsed() throws {
        let problems = stubs.withLock(\.problems)
        guard problems.isEmpty else { throw StubFailure(problems: problems) }
    }

    /// Gives the request its first response that is left, after the response's delay. A delay longer than one of the
    /// request's timeouts ends in that timeout; so does a delay before a chunk of the body. After the total timeout
    /// the next read of the body fails.
    ///
    /// A streamed request body is read first, within the same timeouts. While it is read, one sleeper waits on the
    /// clock if the request has a timeout, by default the idle timeout.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.isAuthenticatedInSteps else { return try await exchange(request) }
        return try await request.authenticated(exchange)
    }

    private func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        let time = clock.stubTime(of: request.options)
        do {
            try request.check(for: capabilities)
            let sent = SentRequest(request, body: try await time.collect(try request.wireBody()))
            return try await give(try response(to: sent), to: sent, request, time)
        } catch {
            throw (error as? NetworkError)?.during(request, transport: name, elapsed: time.elapsed) ?? error
        }
    }

    /// Returns the first response that is left of the stubs that match.
    private func response(to sent: SentRequest) throws -> StubResponse {
        let matchers = stubs.withLock { $0.receive(sent) }
        for (index, matcher) in matchers.enumerated() where matcher.matches(sent) {
            if let response = stubs.withLock({ $0.takeResponse(ofStub: index) }) { return response }
        }
        throw stubs.withLock { $0.miss(sent) }
    }

    private func give(
        _ response: StubResponse, to sent: SentRequest, _ request: TransportRequest, _ time: StubTime
    ) async throws -> TransportResponse {
        try await time.wait(response.delay, for: .head)
        switch response.outcome {
        case .failure(let error): throw error
        case .computed(let make): return try await give(try make(sent), to: sent, request, time)
        case .response(let head, let body):
            return TransportResponse(
                head: head,
                body: TransportResponse.Body(source: StubBody(body, of: request, time: time)),
                metrics: TransportMetrics(total: response.delay)
            )
        }
    }
}

extension NetworkError.Code {
    /// A `StubTransport` received a request that no stub matches.
    public static let notStubbed = Self(rawValue: "notStubbed")
}

/// The problems that ``StubTransport/checkAllUsed()`` found.
public struct StubFailure: Error, Sendable, CustomStringConvertible {
    /// One sentence for each response that was not given and for each request without a stub, without the request's
    /// query. ``StubTransport/sent`` has the complete requests.
    public let problems: [String]

    /// The problems, one on each line.
    public var description: String { problems.joined(separator: "\n") }
}
