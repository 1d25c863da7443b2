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
        let exchange = PlayedExchange(of: request, over: name, on: clock)
        do {
            try request.check(for: capabilities)
            let body = try request.wireBody()
            let received = Guarded(body?.bytes ?? Data())
            var trailers = HTTPFields()
            if let body, body.bytes == nil {
                trailers = try await exchange.read(body) { piece in
                    let count = received.withLock { bytes in
                        bytes += piece
                        return bytes.count
                    }
                    let limit = Self.maximumBodyBytes
                    guard count <= limit else { throw NetworkError.bodyTooLarge(limit: limit) }
                }
            }
            let sent = SentRequest(request, body: received.withLock(\.self), trailers: trailers)
            return try await give(try response(to: sent), to: sent, exchange)
        } catch {
            throw exchange.naming(error)
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
        _ response: StubResponse, to sent: SentRequest, _ exchange: PlayedExchange
    ) async throws -> TransportResponse {
        try await exchange.wait(.after(response.delay))
        switch response.outcome {
        case .failure(let error): throw error
        case .computed(let make): return try await give(try make(sent), to: sent, exchange)
        case .interim(let interim, let rest):
            for head in interim { exchange.request.interimResponse?(head) }
            return try await give(rest(), to: sent, exchange)
        case .response(let head, let chunks, let interval, let failure):
            let body = PlayedBody(
                chunks.map { ($0, .after(interval)) }, failure: failure.map { ($0, .after(.zero)) },
                metrics: TransportMetrics(total: response.delay), over: exchange)
            return TransportResponse(head: head, body: TransportResponse.Body(source: body))
        }
    }

    /// The largest streamed body that is read, in bytes.
    private static let maximumBodyBytes = 67_108_864
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

/// The stubs, the responses that are left, and the requests so far.
private struct StubList: Sendable {
    private struct Stub: Sendable {
        let matcher: StubMatcher
        let responses: [StubResponse]
        let repeats: Bool
        var given = 0

        var next: StubResponse? {
            if repeats { return responses.first }
            return given < responses.count ? responses[given] : nil
        }

        /// The stub and its count, such as `GET /users (2 of 3 responses given)`.
        var text: String {
            if repeats { return "\(matcher.description) (always, given \(given) times)" }
            return "\(matcher.description) (\(given) of \(responses.count) responses given)"
        }

        var isUsed: Bool { repeats ? given > 0 : given == responses.count }
    }

    private var stubs: [Stub] = []
    private var unexpected: [SentRequest] = []
    private(set) var sent: [SentRequest] = []

    mutating func add(_ matcher: StubMatcher, responses: [StubResponse], repeats: Bool) {
        stubs.append(Stub(matcher: matcher, responses: responses, repeats: repeats))
    }

    /// Records a request, and returns the matchers, which may use the dispatcher: they are asked without the lock.
    mutating func receive(_ request: SentRequest) -> [StubMatcher] {
        sent.append(request)
        return stubs.map(\.matcher)
    }

    /// Returns the next response of a stub that matches, and counts it as given; `nil` if none is left.
    mutating func takeResponse(ofStub index: Int) -> StubResponse? {
        guard let response = stubs[index].next else { return nil }
        stubs[index].given += 1
        return response
    }

    /// Records that no stub had a response for a request. The error names it and the stubs.
    mutating func miss(_ request: SentRequest) -> NetworkError {
        unexpected.append(request)
        let list = stubs.isEmpty ? "nothing" : stubs.map(\.text).joined(separator: "; ")
        let query = request.query.isEmpty ? "" : "; the query that was sent is in `sent` of the stub"
        return NetworkError(.notStubbed, "\(request) is not stubbed; stubbed are: \(list)\(query)", phase: .preparing)
    }

    /// A sentence for each request without a stub and for each stub with responses left.
    var problems: [String] {
        unexpected.map { "\($0) was sent and is not stubbed" }
            + stubs.filter { !$0.isUsed }.map { "\($0.text) was not used up" }
    }
}
