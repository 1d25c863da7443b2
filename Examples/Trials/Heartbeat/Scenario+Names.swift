import Foundation
import CurlTransport
import NetworkCore
import NetworkTesting

/// Invalid names and names that hang: under `scripts/heartbeat` the lookup of a name that begins with "slow" hangs.
extension Scenario {
    static let names = [
        Scenario("interfaces", interfaces),
        Scenario("names that hang") { try await hang($0) { number in ("http://slow-\(number).example/", .init()) } },
        Scenario("names that hang, of one host") { try await hang($0) { _ in ("http://slow.example/", .init()) } },
        Scenario("a name that hangs when libcurl has forgotten it", forgotten),
        Scenario("names of proxies that hang") { attempt in
            try await hang(attempt) { number in
                var options = TransportOptions()
                options.proxy = .explicit(TransportOptions.Proxy.Server("http://slow-proxy-\(number).example:3128"))
                return ("http://127.0.0.1:9/", options)
            }
        },
        Scenario("lookups given up", givenUp),
        Scenario("shutdown while names hang", ends),
    ]

    private static func interfaces(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.answering(.ok("well"))
        defer { server.stop() }
        let names = [
            "slow0", "slow.example", "eth0.slow", "slow-interface-which-is-long", "if!slow0", "host!slow.example",
            "lo:1",
            "127.0.0.1.", "0x7f.1", "127.1", "localhost", "::ffff:1.2.3.4%slow", "fe80::1%slow", "192.0.2.1",
            "2001:db8::1",
            "*", ".", "slow\u{e9}", "slow host",
        ]
        try await attempt.withNeighbour("a neighbor") {
            await withTaskGroup(of: Void.self) { group in
                for name in names + names + names {
                    group.addTask {
                        var options = TransportOptions()
                        options.connection.interface = name
                        let clock = SuspendingClock()
                        let start = clock.now
                        let code = await attempt.ask(server.url(), options)
                        attempt.expect(code != nil, "a request went out from the interface \(name)")
                        let took = clock.now - start
                        attempt.expect(took < .seconds(5), "the interface \(name) was refused after \(took.text)")
                    }
                }
            }
        }
    }

    /// The name has an address the first time, so that its origin counts as resolved.
    private static func forgotten(_ attempt: Attempt) async throws {
        let server = try ScriptedPeer.answering(.ok("well"))
        defer { server.stop() }
        let url = server.url().replacing("127.0.0.1", with: "once.example")
        var options = TransportOptions()
        options.names.cacheTime = .zero
        options.connection.forbidsReuse = true
        let code = await attempt.ask(url, options)
        attempt.expect(code == nil, "the first request failed: \(code?.rawValue ?? "")")
        let forgetting = options
        try await hang(attempt) { _ in (url, forgetting) }
    }

    /// Keeps 80 requests in flight and gives each up after 200 ms, while other requests need no lookup.
    private static func hang(
        _ attempt: Attempt, _ make: @escaping @Sendable (Int) -> (url: String, options: TransportOptions)
    ) async throws {
        let timeout = Duration.milliseconds(200)
        let end = SuspendingClock().now + .seconds(attempt.isShort ? 3 : 60)
        let peak = Peak()
        let times = try await attempt.withNeighbour("a neighbor") {
            try await newHosts(attempt) {
                await peak.watch {
                    await withTaskGroup(of: [Duration].self) { group in
                        for caller in 0..<80 {
                            group.addTask { await calls(attempt, from: caller, timeout, until: end, make) }
                        }
                        return await group.reduce(into: []) { $0 += $1 }
                    }
                }
            }
        }.sorted()
        guard !times.isEmpty else { return attempt.expect(false, "no request has ended") }
        let most = times[times.count * 9 / 10]
        attempt.note("\(times.count) given up, 9 of 10 within \(most.text)")
        let limit = timeout * 2 * Heartbeat.busyness
        attempt.expect(most < limit, "a caller waits \(most.text) for a connectTimeout of \(timeout.text)")
        bound(peak, attempt)
    }

    private static func calls(
        _ attempt: Attempt, from caller: Int, _ timeout: Duration, until end: SuspendingClock.Instant,
        _ make: @Sendable (Int) -> (url: String, options: TransportOptions)
    ) async -> [Duration] {
        let clock = SuspendingClock()
        var times: [Duration] = []
        while clock.now < end {
            var (url, options) = make(times.count * 80 + caller)
            options.connectTimeout = timeout
            let start = clock.now
            let code = await attempt.ask(url, options)
            attempt.expect(code == .connectTimeout, "a name that hangs ended in: \(code?.rawValue ?? "a response")")
            times.append(clock.now - start)
        }
        return times
    }

    /// Sends requests to servers that were not used before, as a second neighbor. Their addresses need no lookup.
    private static func newHosts<Result>(_ attempt: Attempt, _ body: () async throws -> Result) async throws -> Result {
        let servers = try (0..<10).map { _ in try ScriptedPeer.answering(.ok("well")) }
        defer { for server in servers { server.stop() } }
        async let asking: Void = {
            for server in servers {
                try await Task.sleep(for: .milliseconds(200))
                var options = TransportOptions()
                // Behind names that hang it would wait for much longer.
                options.connectTimeout = .seconds(5)
                let code = await attempt.ask(server.url(), options)
                attempt.expect(code == nil, "a host with an address failed: \(code?.rawValue ?? "")")
            }
        }()
        let result = try await body()
        try await asking
        return result
    }

    /// Checks the limit of 64 lookups. Each has a thread and a pair of descriptors, in addition to those of the servers
    /// and the tasks.
    private static func bound(_ peak: Peak, _ attempt: Attempt) {
        attempt.note("\(peak.threads) more threads and \(peak.descriptors) more descriptors")
        attempt.expect(peak.threads <= 64 + 40, "\(peak.threads) more threads")
        attempt.expect(peak.descriptors <= 3 * 64 + 100, "\(peak.descriptors) more descriptors")
    }

    private static func givenUp(_ attempt: Attempt) async throws {
        let peak = Peak()
        try await attempt.withNeighbour("a neighbor") {
            await peak.watch {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<(attempt.isShort ? 3_000 : 20_000) {
                        group.addTask {
                            let call = Task { await attempt.ask("http://slow-\(number % 500).example/") }
                            try? await Task.sleep(for: .milliseconds(number % 50))
                            call.cancel()
                            let code = await call.value
                            attempt.expect(code == .cancelled, "a cancelled request ended in \(code?.rawValue ?? "")")
                        }
                    }
                }
            }
        }
        bound(peak, attempt)
    }

    private static func ends(_ attempt: Attempt) async throws {
        let calls = (0..<80).map { number in Task { await attempt.ask("http://slow-\(number).example/") } }
        try await Task.sleep(for: .milliseconds(300))
        let clock = SuspendingClock()
        let start = clock.now
        await attempt.dispatcher.shutDown(within: .zero)
        let took = clock.now - start
        attempt.note("shut down in \(took.text)")
        for call in calls {
            let code = await call.value
            attempt.expect(code == .shutDown, "the shutdown ended a request in \(code?.rawValue ?? "a response")")
        }
        // Before 7.87, libcurl waits for its lookups.
        if attempt.libcurl >= 7.87 { attempt.expect(took < .seconds(5), "the shutdown took \(took.text)") }
    }
}
