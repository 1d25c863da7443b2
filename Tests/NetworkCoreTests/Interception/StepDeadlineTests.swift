import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// Checks that the steps that a caller adds to a call end with the call.
@Suite("The deadline and the steps of a call", .patience(minutes: 1))
struct StepDeadlineTests {
    private static let total = Duration.milliseconds(20)

    /// A way in which a step exceeds the call's timeout.
    enum Manner: CaseIterable {
        /// The step waits, and ends when its task is cancelled.
        case waits
        /// The step ignores cancellation, and succeeds after the deadline.
        case lingers

        func pass() async throws {
            switch self {
            case .waits:
                let (never, continuation) = AsyncStream<Void>.makeStream()
                for await _ in never {}
                continuation.finish()
                try Task.checkCancellation()
            case .lingers: Self.linger()
            }
        }

        static func linger() {
            let late = ContinuousClock.now + StepDeadlineTests.total * 1.5
            while ContinuousClock.now < late {}
        }
    }

    /// A slow step of the caller.
    struct Slow: Interceptor {
        let manner: Manner
        let isBefore: Bool

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            if isBefore { try await manner.pass() }
            let response = try await next(request)
            if !isBefore { try await manner.pass() }
            return response
        }
    }

    /// A body without bytes and without an end.
    private final class EndlessBody: TransportResponse.BodySource {
        func next() async throws -> Data? {
            try await Manner.waits.pass()
            return nil
        }
        func collect(upTo limit: Int?) async throws -> Data { try await next() ?? Data() }
        var metrics: TransportMetrics { TransportMetrics(total: .zero) }
        var trailers: HTTPFields? { nil }
    }

    private struct ReplacingBody: Interceptor {
        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            var response = try await next(request)
            response.body = TransportResponse.Body(source: EndlessBody())
            return response
        }
    }

    /// Regression: only a transport's own body kept the total timeout.
    @Test(arguments: [true, false])
    func `a body of an interceptor ends with the call`(isOfExchange: Bool) async throws {
        var client = NetworkClient(transport: StubTransport(always: .text("x")))
        if isOfExchange {
            client.exchangeInterceptors = [ReplacingBody()]
        } else {
            client.interceptors = [ReplacingBody()]
        }
        client.options.totalTimeout = .milliseconds(100)
        let request = RequestData(path: "http://a/")
        await expectFailure(.totalTimeout) { try await client.send(request, as: .data) }
        await expectFailure(.totalTimeout) { try await client.send(request, as: .text) }
        await expectFailure(.totalTimeout) {
            for try await _ in try await client.send(request, as: .lines).body {}
        }
        await expectFailure(.totalTimeout) {
            for try await _ in try await client.send(request, as: .stream).body {}
        }
    }

    /// Regression: the client's timeout replaced a step's own, and hid one out of range.
    @Test(
        arguments: [(0.05, NetworkError.Code.totalTimeout), (-1, .invalidOption), (60, nil)]
            as [(Double, NetworkError.Code?)])
    func `a step may shorten the total timeout`(seconds: Double, code: NetworkError.Code?) async throws {
        let stub = StubTransport()
        stub.always(.any, .text("x").after(.milliseconds(300)))
        for isOfExchange in [true, false] {
            var client = NetworkClient(transport: stub)
            client.options.totalTimeout = .seconds(30)
            if isOfExchange {
                client.exchangeInterceptors = [.adapting { $0.options.totalTimeout = .seconds(seconds) }]
            } else {
                client.interceptors = [.adapting { $0.options.totalTimeout = .seconds(seconds) }]
            }
            var failure: NetworkError.Code?
            do {
                _ = try await client.send(RequestData(path: "http://a/"), as: .text)
            } catch let error as NetworkError {
                failure = error.code
            }
            #expect(failure == code)
        }
    }

    /// Regression: `.data` was returned after the deadline.
    @Test func `a validation that lasts too long fails the call, whatever the form`() async throws {
        var client = NetworkClient(transport: StubTransport(always: .text("x")))
        client.options.totalTimeout = Self.total
        client.validation = .custom { _ in Manner.linger() }
        await expectFailure(.totalTimeout) { try await client.send(RequestData(path: "http://a/"), as: .data) }
        await expectFailure(.totalTimeout) { try await client.send(RequestData(path: "http://a/"), as: .text) }
    }

    /// The place of a step in the pipeline.
    enum Place: CaseIterable {
        case call, callAfter, exchange, exchangeAfter, adapting, adaptingResponse, followed, stopped, refused

        func put(_ manner: Manner, into client: inout NetworkClient) {
            switch self {
            case .call: client.interceptors = [Slow(manner: manner, isBefore: true)]
            case .callAfter: client.interceptors = [Slow(manner: manner, isBefore: false)]
            case .exchange: client.exchangeInterceptors = [Slow(manner: manner, isBefore: true)]
            case .exchangeAfter: client.exchangeInterceptors = [Slow(manner: manner, isBefore: false)]
            case .adapting: client.interceptors = [.adapting { _ in try await manner.pass() }]
            case .adaptingResponse: client.exchangeInterceptors = [.adaptingResponse { _ in try await manner.pass() }]
            case .followed, .stopped, .refused:
                client.redirectPolicy = .deciding { [self] proposal in
                    try await manner.pass()
                    return switch self {
                    case .stopped: .stop
                    case .refused: .refuse("not there")
                    default: .follow(proposal.request)
                    }
                }
            }
        }
    }

    private static func client(_ place: Place, _ manner: Manner, totalTimeout: Duration?) -> NetworkClient {
        var client = NetworkClient(transport: AnsweringTransport(.redirect(to: "/next"), .init(body: "end")))
        client.validation = .any
        client.options.totalTimeout = totalTimeout
        place.put(manner, into: &client)
        return client
    }

    @Test(arguments: Place.allCases, Manner.allCases)
    func `a slow step ends with the call`(place: Place, manner: Manner) async {
        let request = RequestData(path: "http://h/")
        for send in [
            { _ = try await $0.send(request, as: .data) }, { _ = try await $0.send(request, as: .stream) },
            { _ = try await $0.send(request, as: .lines) },
            { _ = try await $0.send(try request.transportRequest(options: $0.options), as: .stream) },
        ] as [@Sendable (NetworkClient) async throws -> Void] {
            let client = Self.client(place, manner, totalTimeout: Self.total)
            let error = await expectFailure(.totalTimeout) { try await send(client) }
            #expect(error?.exchange?.url.hasPrefix("http://h/") == true)
            #expect(error?.exchange?.transport == "stub")
        }
    }

    @Test(arguments: Place.allCases)
    func `a cancelled step is cancelled`(place: Place) async {
        for timeout in [nil, .seconds(60)] as [Duration?] {
            let client = Self.client(place, .waits, totalTimeout: timeout)
            let task = Task { try await client.send(RequestData(path: "http://h/"), as: .stream).status }
            task.cancel()
            await expectFailure(.cancelled) { try await task.value }
        }
    }

    /// An invalid timeout is still refused by name.
    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `a timeout of no length is an invalid option`(timeout: Duration) async {
        for place in Place.allCases {
            let client = Self.client(place, .waits, totalTimeout: timeout)
            await expectFailure(.invalidOption) { try await client.send(RequestData(path: "http://h/"), as: .data) }
        }
    }

    private struct SlowContent: BodyEncoder {
        func encode() throws -> RequestContent.Encoded {
            let late = ContinuousClock.now + StepDeadlineTests.total * 1.5
            while ContinuousClock.now < late {}
            return RequestContent.Encoded(.bytes(Data("late".utf8)), contentType: "text/plain")
        }
    }

    /// The call begins with the encoding of its body.
    @Test func `encoding is part of the call`() async throws {
        let transport = AnsweringTransport(.init())
        var client = NetworkClient(transport: transport)
        client.options.totalTimeout = Self.total
        let request = RequestData(path: "http://h/", method: .post, content: RequestContent(SlowContent()))
        let ready = client
        for send in [
            { _ = try await ready.send(request, as: .data) }, { _ = try await ready.send(request, as: .stream) },
            { _ = try await ready.send(request, as: .text) }, { _ = try await ready.send(request, as: .lines) },
            { _ = try await ready.send(request, as: .jsonLines(of: Int.self)) },
            { _ = try await ready.send(request, as: Int.self) },
            { _ = try await ready.send(request, as: .file("/no/such/folder/file")) },
        ] as [@Sendable () async throws -> Void] {
            let error = await expectFailure(.totalTimeout, from: send)
            #expect(error?.phase == .preparing)
        }
        #expect(transport.requests.isEmpty)
        client.options.totalTimeout = nil
        #expect(try await client.send(request, as: .data).status == .ok)
    }
}
