import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct RetryTests {
    private typealias Answer = AnsweringTransport.Answer

    /// A clock that records sleeps instead of waiting, and a random source that always returns the same number.
    private final class Pauses: Sendable {
        private let taken = Guarded<[Duration]>([])
        var all: [Duration] { taken.withLock { $0 } }

        var source: TimeSource {
            TimeSource(
                now: { Date(timeIntervalSince1970: 784_111_777) },
                sleep: { duration in self.taken.withLock { $0.append(duration) } },
                random: { 0.5 }
            )
        }
    }

    private func client(
        _ transport: AnsweringTransport,
        _ pauses: Pauses,
        budget: RetryInterceptor.Budget = RetryInterceptor.Budget(),
        _ change: (inout RetryInterceptor.Policy) -> Void = { _ in }
    ) -> NetworkClient {
        var client = NetworkClient(transport: transport)
        var policy = RetryInterceptor.Policy()
        change(&policy)
        client.interceptors = [.retry(policy, budget: budget, time: pauses.source)]
        return client
    }

    @Test func `an unavailable service is tried again until it works`() async throws {
        let transport = AnsweringTransport(Answer(status: 503), Answer(status: 502), Answer(body: "at last"))
        let pauses = Pauses()
        let response = try await client(transport, pauses).send(RequestData(path: "http://a/"), as: .data)
        #expect(response.body == Data("at last".utf8))
        #expect(response.attempts == 3)
        #expect(pauses.all == [.milliseconds(100), .milliseconds(200)])
    }

    @Test(arguments: [408, 425, 429, 502, 503, 504])
    func `a momentary status is tried again`(status: Int) async throws {
        let transport = AnsweringTransport(Answer(status: status), Answer())
        let response = try await client(transport, Pauses()).send(try .make(.get, "http://a/"), as: .stream)
        #expect(response.status.code == 200)
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [200, 400, 401, 404, 500, 501, 505]) func `another status counts`(status: Int) async throws {
        let transport = AnsweringTransport(Answer(status: status))
        _ = try await client(transport, Pauses()).send(try .make(.get, "http://a/"), as: .stream)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        NetworkError.Code.connectionLost, .connectFailed, .connectTimeout, .nameNotResolved, .firstByteTimeout,
        .idleTimeout,
    ])
    func `a momentary failure is tried again`(code: NetworkError.Code) async throws {
        let transport = AnsweringTransport { _ in throw NetworkError(code, "down") }
        let error = await expectFailure(code) {
            try await client(transport, Pauses()).send(try .make(.get, "http://a/"), as: .stream)
        }
        #expect(transport.requests.count == 3)
        #expect(error?.exchange?.attempts == 3)
        #expect(error?.description.contains(", attempt 3") == true)
    }

    @Test(arguments: [
        NetworkError.Code.unsupported, .invalidURL, .cancelled, .totalTimeout, .tlsFailed, .bodyTooLarge,
        .invalidResponse,
        .addressRefused, .shutDown,
    ])
    func `another failure counts`(code: NetworkError.Code) async throws {
        let transport = AnsweringTransport { _ in throw NetworkError(code, "no") }
        await expectFailure(code) {
            try await client(transport, Pauses()).send(try .make(.get, "http://a/"), as: .stream)
        }
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, 3), (.head, 3), (.options, 3), (.put, 3), (.delete, 3), (.post, 1), (.patch, 1),
    ])
    func `idempotent methods alone are tried again`(method: HTTPRequest.Method, count: Int) async throws {
        let transport = AnsweringTransport(Answer(status: 503))
        _ = try await client(transport, Pauses()).send(try .make(method, "http://a/"), as: .stream)
        #expect(transport.requests.count == count)
    }

    @Test func `another method is tried again on demand`() async throws {
        let transport = AnsweringTransport(Answer(status: 503))
        _ = try await client(transport, Pauses()) { $0.methods.insert(.post) }
            .send(try .make(.post, "http://a/", body: "x"), as: .stream)
        #expect(transport.requests.count == 3)
        #expect(transport.requests.allSatisfy { $0.body?.knownBytes == Data("x".utf8) })
    }

    @Test func `a one-time body is sent once`() async throws {
        let transport = AnsweringTransport(Answer(status: 503))
        var request = try TransportRequest.make(.put, "http://a/")
        request.body = .stream(AsyncStream<Data> { $0.finish() }, length: 0)
        _ = try await client(transport, Pauses()).send(request, as: .stream)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        ("7", Duration.seconds(7)), ("0", .milliseconds(100)), ("Sun, 06 Nov 1994 08:49:42 GMT", .seconds(5)),
        ("Sunday, 06-Nov-94 08:49:42 GMT", .seconds(5)), ("Sun Nov  6 08:49:42 1994", .seconds(5)),
        ("Sun, 06 Nov 1994 08:00:00 GMT", .milliseconds(100)), ("soon", .milliseconds(100)), ("-5", .milliseconds(100)),
        ("", .milliseconds(100)), ("60", .seconds(60)),
    ])
    func `Retry-After is honoured`(value: String, pause: Duration) async throws {
        let transport = AnsweringTransport(Answer(status: 429, fields: [.retryAfter: value]), Answer())
        let pauses = Pauses()
        _ = try await client(transport, pauses).send(try .make(.get, "http://a/"), as: .stream)
        #expect(pauses.all == [pause])
    }

    /// Several fields of one name read as one list, which is neither a number of seconds nor a date.
    @Test func `Retry-After of several fields is the longest`() async throws {
        var fields: HTTPFields = [:]
        for value in ["3", "7", "soon", "3"] { fields.append(HTTPField(name: .retryAfter, value: value)) }
        let transport = AnsweringTransport(Answer(status: 429, fields: fields), Answer())
        let pauses = Pauses()
        _ = try await client(transport, pauses).send(try .make(.get, "http://a/"), as: .stream)
        #expect(pauses.all == [.seconds(7)])
    }

    /// Regression: fields that URLSession had joined were neither seconds nor a date, and no pause was kept.
    @Test(arguments: [
        ("1, 30", Duration.seconds(30)), ("30,1", .seconds(30)), ("7, 7, 7", .seconds(7)),
        ("7, soon", .milliseconds(100)), ("7,", .milliseconds(100)), ("7 30", .milliseconds(100)),
    ])
    func `Retry-After of joined fields is the longest`(value: String, pause: Duration) async throws {
        let transport = AnsweringTransport(Answer(status: 429, fields: [.retryAfter: value]), Answer())
        let pauses = Pauses()
        _ = try await client(transport, pauses).send(try .make(.get, "http://a/"), as: .stream)
        #expect(pauses.all == [pause])
    }

    @Test(arguments: ["61", "99999999999999999999999", "Fri, 31 Dec 2100 23:59:59 GMT"])
    func `Retry-After beyond the limit ends the call`(value: String) async throws {
        let transport = AnsweringTransport(Answer(status: 503, fields: [.retryAfter: value], body: "later"))
        let pauses = Pauses()
        let response = try await client(transport, pauses).send(try .make(.get, "http://a/"), as: .stream)
        #expect(response.status.code == 503)
        #expect(try await response.body.collect() == Data("later".utf8))
        #expect(transport.requests.count == 1)
        #expect(pauses.all.isEmpty)
    }

    @Test func `the back-off doubles up to its limit, and jitter takes a part`() {
        var policy = RetryInterceptor.Policy()
        policy.maximumRetries = 1000
        let failure = Result<TransportResponse, any Error>.failure(NetworkError(.connectFailed, "x"))
        func delay(_ retries: Int, _ random: Double) -> Duration? {
            policy.delay(after: failure, retries: retries, now: Date(), random: random)
        }
        #expect(
            [0, 1, 2, 6, 7, 63, 999].map { delay($0, 1) }
                == [200, 400, 800, 12_800, 20_000, 20_000, 20_000].map { .milliseconds($0) })
        #expect(delay(3, 0) == .zero)
        #expect(delay(3, 0.25) == .milliseconds(400))
        #expect(delay(1000, 1) == nil)
    }

    @Test func `a pause beyond the deadline ends the call at once`() async throws {
        let transport = AnsweringTransport(Answer(status: 503, fields: [.retryAfter: "60"], body: "busy"))
        let pauses = Pauses()
        var request = try TransportRequest.make(.get, "http://a/")
        request.options.totalTimeout = .seconds(58)
        let response = try await client(transport, pauses).send(request, as: .stream)
        #expect(response.status.code == 503)
        #expect(try await response.body.collect() == Data("busy".utf8))
        #expect(response.attempts == 1)
        #expect(pauses.all.isEmpty)
    }

    @Test func `a budget is shared by calls, and earned by them`() async throws {
        let transport = AnsweringTransport(Answer(status: 503))
        let client = client(transport, Pauses(), budget: RetryInterceptor.Budget(capacity: 3, perCall: 0.5))
        var counts: [Int] = []
        for _ in 0..<5 {
            let before = transport.requests.count
            _ = try await client.send(try .make(.get, "http://a/"), as: .stream)
            counts.append(transport.requests.count - before)
        }
        // Three tokens at first, then half a token from each call.
        #expect(counts == [3, 2, 2, 1, 2])
    }

    /// The sum of ten times 0.1 as a Double is less than 1.
    @Test(arguments: [(0.1, 100), (0.3, 300), (0.7, 700), (0.01, 10), (1, 1000), (2, 1000), (0, 0), (-1, 0), (.nan, 0)])
    func `a budget earns what it says`(perCall: Double, retries: Int) {
        let budget = RetryInterceptor.Budget(capacity: 10, perCall: perCall)
        #expect((0..<20).count { _ in budget.spend() } == 10)
        var spent = 0
        for _ in 0..<1000 {
            budget.earn()
            if budget.spend() { spent += 1 }
        }
        #expect(spent == retries)
    }

    @Test(arguments: [(Double.nan, 0), (-.infinity, 0), (0.99, 0), (1, 1), (2.5, 2), (.infinity, 50)])
    func `a budget has any capacity`(capacity: Double, retries: Int) {
        let budget = RetryInterceptor.Budget(capacity: capacity, perCall: .infinity)
        #expect((0..<50).count { _ in budget.spend() } == retries)
        budget.earn()
        #expect(budget.spend() == (retries > 0))
    }

    @Test func `a cancellation during the pause is a cancellation`() async throws {
        let transport = AnsweringTransport(Answer(status: 503))
        let source = TimeSource(now: { Date() }, sleep: { _ in throw CancellationError() }, random: { 1 })
        var client = NetworkClient(transport: transport)
        client.interceptors = [.retry(time: source)]
        let sender = client
        await expectFailure(.cancelled) { try await sender.send(try .make(.get, "http://a/"), as: .stream) }
        #expect(transport.requests.count == 1)
    }

    @Test func `redirects start anew with each attempt`() async throws {
        let transport = AnsweringTransport(
            .redirect(to: "/2"), Answer(status: 503), .redirect(to: "/2"), Answer(body: "x"))
        let response = try await client(transport, Pauses()).send(try .make(.get, "http://a/1"), as: .stream)
        #expect(response.attempts == 2)
        #expect(response.redirects.count == 1)
        #expect(transport.lines.map { $0.suffix(2) } == ["/1", "/2", "/1", "/2"])
    }
}
