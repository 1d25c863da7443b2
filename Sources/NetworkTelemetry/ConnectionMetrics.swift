#if Metrics
public import Metrics
public import NetworkCore

/// Reports a transport's connections, queue and loops as metrics, again and again.
///
/// ```swift
/// group.addTask { try await ConnectionMetrics(of: CurlNetworkDispatcher.shared).run() }
/// ```
///
/// | metric | kind |
/// | --- | --- |
/// | `http.client.open_connections` with `http.connection.state` `active` or `idle` | meter |
/// | `networklayer.pool.opened`, `networklayer.pool.closed` | counters of connections |
/// | `networklayer.pool.waiting` | meter: requests that wait for a place |
/// | `networklayer.pool.waited`, `networklayer.pool.wait_microseconds` | counters: who got one, and the wait |
/// | `networklayer.loop.rounds`, `networklayer.loop.busy_microseconds` | counters |
/// | `networklayer.loop.longest_round_microseconds` | meter: the longest round so far |
///
/// Those of connections and requests have the dimension `origin`, `https://api.example.com:443`. Each loop names at
/// most ``NetworkCore/TransportStatistics/maximumOrigins``; the others together are `_OTHER`.
public struct ConnectionMetrics: Sendable {
    private let transport: any ReportsStatistics
    private let interval: Duration
    private let factory: (any MetricsFactory)?

    /// Creates a reporter.
    /// - Parameters:
    ///   - transport: The transport, such as a `CurlNetworkDispatcher`.
    ///   - interval: The time between two reports. Default: 10 seconds.
    ///   - factory: What makes the metrics. Default: that of the process.
    public init(
        of transport: any ReportsStatistics, every interval: Duration = .seconds(10),
        by factory: (any MetricsFactory)? = nil
    ) {
        (self.transport, self.interval, self.factory) = (transport, interval, factory)
    }

    /// Reports until the task is cancelled.
    /// - Throws: `CancellationError`.
    public func run() async throws {
        var last = TransportStatistics()
        while true {
            last = await report(since: last)
            try await Task.sleep(for: interval)
        }
    }

    /// Reports the state now, and what has happened since an earlier one.
    /// - Returns: The state that was reported.
    func report(since last: TransportStatistics) async -> TransportStatistics {
        let (factory, now) = (factory ?? MetricsSystem.factory, await transport.statistics)
        for (origin, numbers) in now.origins {
            report(numbers, since: last.origins[origin] ?? .init(), of: origin, by: factory)
        }
        if now.otherOrigins != .init() { report(now.otherOrigins, since: last.otherOrigins, of: "_OTHER", by: factory) }
        func count(_ label: String, _ number: Int) {
            Counter(label: label, factory: factory).increment(by: max(0, number))
        }
        count("networklayer.loop.rounds", now.loops.rounds - last.loops.rounds)
        count("networklayer.loop.busy_microseconds", Self.microseconds(now.loops.busy - last.loops.busy))
        Meter(label: "networklayer.loop.longest_round_microseconds", factory: factory)
            .set(Self.microseconds(now.loops.longestRound))
        return now
    }

    private func report(
        _ now: TransportStatistics.Connections, since last: TransportStatistics.Connections, of origin: String,
        by factory: any MetricsFactory
    ) {
        let dimensions = [("origin", origin)]
        for (state, number) in [("active", now.open - now.idle), ("idle", now.idle)] {
            let dimensions = dimensions + [("http.connection.state", state)]
            Meter(label: "http.client.open_connections", dimensions: dimensions, factory: factory).set(number)
        }
        Meter(label: "networklayer.pool.waiting", dimensions: dimensions, factory: factory).set(now.waiting)
        let counts = [
            ("opened", now.opened - last.opened), ("closed", now.closed - last.closed),
            ("waited", now.waited - last.waited),
            ("wait_microseconds", Self.microseconds(now.waitingTime - last.waitingTime)),
        ]
        for (name, number) in counts {
            Counter(label: "networklayer.pool.\(name)", dimensions: dimensions, factory: factory)
                .increment(by: max(0, number))
        }
    }

    private static func microseconds(_ time: Duration) -> Int {
        Int(max(0, min(time, .seconds(1 << 32)) / .microseconds(1)))
    }
}
#endif
