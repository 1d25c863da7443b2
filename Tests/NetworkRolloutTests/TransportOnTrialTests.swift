import Foundation
import NetworkLayer
import NetworkTesting
import Testing
import TestSupport

@testable import NetworkRollout

// A name with 'Canary' would put the tests among those of secrets (scripts/test), which run for minutes.
@Suite("A canary", .patience(minutes: 1))
struct TransportOnTrialTests {
    private let url: RequestURL
    private var half = CanaryTransport.Options()

    init() throws {
        url = try RequestURL("http://example.test/")
        half.share = 0.5
    }

    private func responses(_ status: Int, _ name: String) -> ClosureTransport {
        ClosureTransport(name: name) { _ in
            TransportResponse(head: HTTPResponse(status: .init(code: status)), body: .init(Data(name.utf8)))
        }
    }

    /// Returns a transport whose first one responds with 200 and its name.
    private func trial(
        of canary: any HTTPTransport, options: CanaryTransport.Options? = nil, log: CanaryLog = CanaryLog()
    ) -> CanaryTransport {
        CanaryTransport(primary: responses(200, "first"), canary: canary, options: options ?? half, logger: log.logger)
    }

    /// Sends GET requests one after another.
    /// - Returns: How many of them went over the transport named `canary`.
    @discardableResult
    private func send(_ count: Int, over transport: CanaryTransport) async throws -> Int {
        var canary = 0
        for _ in 0..<count {
            let body = try? await transport.send(TransportRequest(url: url)).body.collect()
            if body == Data("canary".utf8) { canary += 1 }
        }
        return canary
    }

    // MARK: Which transport

    @Test(arguments: ["canary", "shadow"]) func `a shutdown ends both transports`(kind: String) async throws {
        let gate = Gate()
        let late = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
        try await withServer([.read, .wait(until: gate), .send(late)]) { server in
            let (first, second) = (CurlNetworkDispatcher(), CurlNetworkDispatcher())
            var all = ShadowTransport.Options()
            all.share = 1
            let transport: any ShutsDown =
                kind == "canary"
                ? CanaryTransport(primary: second, canary: first, options: half)
                : ShadowTransport(primary: first, shadow: second, options: all) { Issue.record("\($0)") }
            let url = try RequestURL(server.url())
            let running = Task { try await first.send(TransportRequest(url: url)).body.collect() }
            try await server.wait { !$0.requests.isEmpty }
            async let end: Void = transport.shutDown(within: .seconds(60))
            for dispatcher in [first, second] {
                // The shutdown has begun when a new request is refused.
                var code: NetworkError.Code?
                while code != .shutDown {
                    do {
                        _ = try await dispatcher.send(TransportRequest(url: try RequestURL("http://127.0.0.1:9/")))
                    } catch { code = NetworkError.code(of: error) }
                }
            }
            gate.open()
            #expect(try await running.value == Data("late".utf8))
            await end
        }
    }

    @Test func `a share of the requests goes over the canary`() async throws {
        var options = half
        options.share = 0.1
        let transport = trial(of: responses(200, "canary"), options: options)
        let canary = try await send(5_000, over: transport)
        // Six standard deviations.
        #expect((373...627).contains(canary), "\(canary)")
        let counts = transport.counts
        #expect(counts.canary == canary && counts.primary > 3 * canary / 2 && counts.primary < 8 * canary)
    }

    @Test(arguments: [(-1, 0), (-Double.infinity, 0), (0, 0), (1, 100), (7, 100), (Double.infinity, 100)])
    func `a share out of range counts as none or all`(share: Double, expected: Int) async throws {
        var options = half
        options.share = share
        let transport = trial(of: responses(200, "canary"), options: options)
        #expect(try await send(100, over: transport) == expected)
        #expect(transport.counts.canary == expected)
    }

    @Test(arguments: [0, -1, Double.nan])
    func `without a chance of false alarms the canary never returns`(falseAlarms: Double) async throws {
        var options = half
        options.falseAlarms = falseAlarms
        let transport = trial(of: responses(500, "canary"), options: options)
        #expect(try await send(2_000, over: transport) > 800)
        #expect(transport.counts.canaryFailures > 800)
    }

    /// Regression: whether a comma in a Location joins two was decided by the first transport.
    @Test(arguments: [true, false]) func `a redirect is judged by the transport that carried it`(isExact: Bool)
        async throws
    {
        func redirecting(_ name: String, isExact: Bool) -> ClosureTransport {
            let supported: Set<TransportCapabilities.Capability> = isExact ? [.exactResponseFields] : []
            let capabilities = TransportCapabilities(transport: name, basis: "a test", supported: supported)
            return ClosureTransport(name: name, capabilities: capabilities) { request in
                let isFirst = request.url.path == "/"
                let fields: HTTPFields = isFirst ? [.location: "/x, /y"] : [:]
                return TransportResponse(
                    head: HTTPResponse(status: isFirst ? .found : .ok, headerFields: fields), body: .init(Data()))
            }
        }
        var options = half
        options.share = 1
        let transport = CanaryTransport(
            primary: redirecting("first", isExact: !isExact), canary: redirecting("canary", isExact: isExact),
            options: options)
        var client = NetworkClient(transport: transport)
        client.validation = .any
        let response = try await client.send(TransportRequest(url: url), as: .data)
        #expect(response.status == (isExact ? .ok : .found))
    }

    /// Regression: errors and logs named the first transport for a response of the canary's.
    @Test func `errors and logs name the transport that carried the request`() async throws {
        let log = CanaryLog()
        var options = half
        options.share = 1
        let transport = trial(of: responses(404, "canary"), options: options)
        func logging(over transport: CanaryTransport) -> NetworkClient {
            NetworkClient(transport: transport).with {
                $0.interceptors = [.logging(log.logger)]
                $0.exchangeInterceptors = [.logging(log.logger)]
            }
        }
        let client = logging(over: transport)
        let rejected = await expectFailure(.unacceptableStatus) {
            try await client.send(RequestData(url: "\(url)"), as: .text)
        }
        let undecoded = await expectFailure(.decodingFailed) {
            try await client.with { $0.validation = .any }.send(RequestData(url: "\(url)"), as: Int.self)
        }
        for error in [rejected, undecoded] { #expect(error?.exchange?.transport == "canary") }
        let broken = ClosureTransport(name: "canary") { _ in throw NetworkError(.connectionLost, "it broke") }
        let breaking = trial(of: broken, options: options)
        let second = logging(over: breaking)
        let lost = await expectFailure(.connectionLost) {
            try await second.send(RequestData(url: "\(url)"), as: .text)
        }
        #expect(lost?.exchange?.transport == "canary")
        #expect(log.messages.count == 6 && !"\(log.messages)".contains("first"), "\(log.messages)")
    }

    @Test func `requests of one origin, or with one key, stay together`() async throws {
        var options = half
        options.assignment = .origin
        let transport = trial(of: responses(200, "canary"), options: options)
        var arms = Set<Data>()
        for host in 0..<64 {
            var own = Set<Data>()
            for rest in ["/", "/a", ":80/b?c"] {
                let url = try RequestURL("http://host\(host).test\(rest)")
                own.insert(try await transport.send(TransportRequest(url: url)).body.collect())
            }
            #expect(own.count == 1)
            arms.formUnion(own)
        }
        #expect(arms.count == 2)
    }

    @Test func `what the canary can't send goes over the first, and is not judged`() async throws {
        var options = half
        options.share = 1
        let transport = trial(of: StubTransport(lacking: [.bodyOnGet]), options: options)
        let request = TransportRequest(url: url, body: .bytes(Data("x".utf8)))
        #expect(try await transport.send(request).body.collect() == Data("first".utf8))
        #expect(transport.counts == CanaryTransport.Counts())
    }

    // MARK: The return

    @Test func `a canary that fails is dropped for good, once, and the log says why`() async throws {
        let log = CanaryLog()
        let broken = ClosureTransport(name: "canary") { _ in
            throw NetworkError(.connectionLost, "gone", phase: .waiting)
        }
        let transport = trial(of: broken, log: log)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask { _ = try? await transport.send(TransportRequest(url: url)).body.collect() }
            }
        }
        let end = try #require(transport.returned)
        #expect(end.reason == .failures && end.counts.primaryFailures == 0 && end.counts.canaryFailures < 40)
        #expect(log.messages.count == 1)
        #expect(
            log.messages.first?.contains(
                """
                the canary canary has ended, all requests go over first: it failed more often; canary: \
                \(end.counts.canaryFailures) of \(end.counts.canary) failed (100 %); first: 0 of \
                \(end.counts.primary) failed (0 %), median 
                """) == true
        )
        for _ in 0..<50 {
            #expect(
                try await transport.send(TransportRequest(url: url)).body.collect() == Data("first".utf8))
        }
        #expect(transport.counts == end.counts)
    }

    @Test(arguments: [400, 500, 503])
    func `a canary that servers refuse is dropped`(status: Int) async throws {
        let transport = trial(of: responses(status, "canary"))
        try await send(200, over: transport)
        #expect(transport.returned?.reason == .failures)
    }

    @Test func `a canary whose bodies break off is dropped`() async throws {
        let broken = NetworkError(.truncatedBody, "gone", phase: .receiving)
        let stub = StubTransport(always: .chunks([Data("x".utf8)], thenFailing: broken))
        let transport = trial(of: stub)
        try await send(200, over: transport)
        #expect(transport.returned?.reason == .failures)
    }

    @Test(arguments: [
        NetworkError.cancelled, NetworkError(.invalidOption, "x", phase: .preparing),
        NetworkError.bodyTooLarge(limit: 1),
    ])
    func `what is the program's own is no failure`(error: NetworkError) async throws {
        var options = half
        options.tolerance = .infinity
        let transport = trial(of: ClosureTransport { _ in throw error }, options: options)
        try await send(200, over: transport)
        #expect(transport.returned == nil && transport.counts.canaryFailures == 0)
    }

    /// Regression: the pipeline cancels a call at its deadline, and a cancelled request did not count.
    @Test func `a canary whose calls end at their deadline is dropped`() async throws {
        let transport = trial(of: ClosureTransport { _ in throw CancellationError() })
        var request = TransportRequest(url: url)
        // Over by the time that any transport ends.
        request.options.totalTimeout = .nanoseconds(1)
        for _ in 0..<200 { _ = try? await transport.send(request).body.collect() }
        #expect(transport.returned?.reason == .failures, "\(transport.counts)")
    }
}
