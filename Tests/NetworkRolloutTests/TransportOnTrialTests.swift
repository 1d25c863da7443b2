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

    @Test func `a share of the requests goes over the canary`() async throws {
        var options = half
        options.share = 0.1
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: responses(200, "canary"), options: options)
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
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: responses(200, "canary"), options: options)
        #expect(try await send(100, over: transport) == expected)
        #expect(transport.counts.canary == expected)
    }

    @Test(arguments: [0, -1, Double.nan])
    func `without a chance of false alarms the canary never returns`(falseAlarms: Double) async throws {
        var options = half
        options.falseAlarms = falseAlarms
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: responses(500, "canary"), options: options)
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
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: responses(404, "canary"), options: options)
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
        let breaking = CanaryTransport(primary: responses(200, "first"), canary: broken, options: options)
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
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: responses(200, "canary"), options: options)
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
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: StubTransport(lacking: [.bodyOnGet]), options: options)
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
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: broken, options: half, logger: log.logger)
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
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: responses(status, "canary"), options: half, onReturn: { _ in })
        try await send(200, over: transport)
        #expect(transport.returned?.reason == .failures)
    }

    @Test func `a canary whose bodies break off is dropped`() async throws {
        let broken = NetworkError(.truncatedBody, "gone", phase: .receiving)
        let stub = StubTransport(always: .chunks([Data("x".utf8)], thenFailing: broken))
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: stub, options: half, onReturn: { _ in })
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
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: ClosureTransport { _ in throw error }, options: options,
            onReturn: { _ in })
        try await send(200, over: transport)
        #expect(transport.returned == nil && transport.counts.canaryFailures == 0)
    }

    /// Regression: the pipeline cancels a call at its deadline, and a cancelled request did not count.
    @Test func `a canary whose calls end at their deadline is dropped`() async throws {
        let transport = CanaryTransport(
            primary: responses(200, "first"), canary: ClosureTransport { _ in throw CancellationError() },
            options: half,
            onReturn: { _ in })
        var request = TransportRequest(url: url)
        // Over by the time that any transport ends.
        request.options.totalTimeout = .nanoseconds(1)
        for _ in 0..<200 { _ = try? await transport.send(request).body.collect() }
        #expect(transport.returned?.reason == .failures, "\(transport.counts)")
    }

    // MARK: The judge

    /// Regression: each latency of the canary was compared with an earlier one of the first transport.
    @Test func `a transport is no worse than itself, whatever its latencies do`() {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<50 {
            var options = half
            options.share = 0.2
            var judge = CanaryJudge(options, arms: ("same", "same"))
            for number in 0..<4_000 {
                let arm: CanaryJudge.Arm = Double.random(in: 0..<1, using: &generator) < 0.2 ? .canary : .primary
                judge.add(arm, isFailed: false, .milliseconds(1 << (number % 5)))
            }
            #expect(judge.verdict == nil, "\(judge.counts)")
        }
    }

    @Test func `a canary that is slower than the tolerance is dropped, and one within it is not`() throws {
        var generator = SeededGenerator(seed: 7)
        for (factor, isDropped) in [(1.0, false), (1.2, false), (1.6, true)] {
            var judge = CanaryJudge(half, arms: ("first", "canary"))
            for _ in 0..<5_000 {
                // A long tail, and a machine that is slower at times.
                let times = (0..<2).map { _ in Double.random(in: 1...2, using: &generator) }
                judge.add(.primary, isFailed: false, .milliseconds(10 * times[0]))
                judge.add(.canary, isFailed: false, .milliseconds(10 * times[1] * factor))
            }
            #expect((judge.verdict?.reason == .latency) == isDropped, "\(factor): \(judge.counts)")
        }
    }

    private func judged(
        _ count: Int = 2_000, seed: UInt64 = 9, _ options: CanaryTransport.Options? = nil,
        canary: (Double, inout SeededGenerator) -> Duration, primary: (Double, inout SeededGenerator) -> Duration
    ) -> CanaryJudge {
        var generator = SeededGenerator(seed: seed)
        var judge = CanaryJudge(options ?? half, arms: ("first", "canary"))
        for _ in 0..<count {
            let draw = Double.random(in: 0..<1, using: &generator)
            let isCanary = Bool.random(using: &generator)
            let time = isCanary ? canary(draw, &generator) : primary(draw, &generator)
            judge.add(isCanary ? .canary : .primary, isFailed: false, time)
        }
        return judge
    }

    @Test func `microseconds end no canary, whatever their ratio`() {
        let near = judged { _, _ in
            .milliseconds(2)
        } primary: { _, _ in
            .milliseconds(1)
        }
        #expect(near.verdict == nil)
        let far = judged { _, _ in
            .milliseconds(20)
        } primary: { _, _ in
            .milliseconds(10)
        }
        #expect(far.verdict?.reason == .latency)
    }

    @Test func `a tenth of the requests at ten times the time ends a canary, and the log has both tails`() throws {
        let judge = judged { draw, _ in
            .milliseconds(draw < 0.1 ? 200 : 20)
        } primary: { _, _ in
            .milliseconds(20)
        }
        let end = try #require(judge.verdict)
        #expect(end.reason == .tail)
        let (canary, primary) = (try #require(end.counts.canaryTimes), try #require(end.counts.primaryTimes))
        #expect((19...21).contains(canary.median / .milliseconds(1)))
        #expect((190...210).contains(canary.percentile95 / .milliseconds(1)))
        #expect((19...21).contains(primary.percentile95 / .milliseconds(1)))
        #expect("\(end)".contains("canary: 0 of \(end.counts.canary) failed (0 %), median "))
        #expect("\(end)".contains(" 95th percentile \(canary.percentile95.shortText); first: 0 of "))
    }

    /// Regression: a request that its deadline had ended counted as a slow one besides, and that test was first.
    @Test func `slow failures are failures`() {
        var judge = CanaryJudge(half, arms: ("first", "canary"))
        for number in 0..<200 {
            let isCanary = number.isMultiple(of: 2)
            // Fails too rarely for a verdict so soon.
            judge.add(isCanary ? .canary : .primary, isFailed: true, .seconds(isCanary ? 30 : 1))
        }
        #expect(judge.verdict == nil && judge.counts.pairs == 0)
    }

    @Test func `equal transports end a canary no more often than is promised`() {
        var options = half
        options.share = 0.2
        options.falseAlarms = 0.1
        var generator = SeededGenerator(seed: 19)
        var alarms = 0
        for _ in 0..<200 {
            var judge = CanaryJudge(options, arms: ("same", "same"))
            for _ in 0..<1_000 where judge.verdict == nil {
                let arm: CanaryJudge.Arm = Double.random(in: 0..<1, using: &generator) < 0.2 ? .canary : .primary
                let isFailed = Double.random(in: 0..<1, using: &generator) < 0.05
                // A long tail: times of 5 ms to seconds.
                let time = 5 / Double.random(in: 0.001..<1, using: &generator)
                judge.add(arm, isFailed: isFailed, .milliseconds(time))
            }
            if judge.verdict != nil { alarms += 1 }
        }
        #expect(alarms <= 20)
    }
}
