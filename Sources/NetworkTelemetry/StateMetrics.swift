#if Metrics
public import Metrics
public import NetworkCore
#if ServiceLifecycle
public import ServiceLifecycle
#endif

/// Reports the state of transports, of clients' steps and of TLS files as metrics, again and again.
///
/// ```swift
/// group.addTask { try await StateMetrics(of: CurlNetworkDispatcher.shared, client).run() }
/// ```
///
/// | of | metric | kind |
/// | --- | --- | --- |
/// | a dispatcher | `http.client.open_connections` with `http.connection.state` `active` or `idle` | meter |
/// | | `networklayer.pool.opened`, `networklayer.pool.closed` | counters of connections |
/// | | `networklayer.pool.waiting` | meter: requests that wait for a place |
/// | | `networklayer.pool.waited`, `networklayer.pool.wait_seconds` | counters: who got one, and the wait |
/// | | `networklayer.loop.rounds`, `networklayer.loop.busy_seconds` | counters |
/// | | `networklayer.loop.longest_round_seconds` | meter: the longest round so far |
/// | a client's steps: a `CircuitBreaker` | `networklayer.breaker.open` | meter: 1 open, 0.5 half-open, 0 closed |
/// | a `ConcurrencyLimit` | `networklayer.limit.places`, `.running`, `.waiting` | meters |
/// | an `AddressBalancer` | `networklayer.address.running`, `.latency_seconds`, `.ejected` (0 or 1) | meters |
/// | | `networklayer.address.requests` | counter |
/// | a `RotatingTLS` | `networklayer.tls.expiry_seconds`, by `role`; `networklayer.tls.problem` (0 or 1) | meters |
/// | | `networklayer.tls.rotations` | counter |
///
/// Those of a dispatcher have the dimension `origin`, of a breaker and a limit its `key`, such as
/// `https://api.example.com:443`, and of a balancer `name` and `address`.
/// What is no longer reported, such as the origin of a dispatcher that was shut down, is set to 0 and destroyed.
public struct StateMetrics: Sendable {
    private let sources: [any ReportsFigures]
    private let interval: Duration
    private let factory: (any MetricsFactory)?

    /// Creates a reporter.
    /// - Parameters:
    ///   - sources: What reports figures. No two of them may report one of the same name and dimensions.
    ///   - interval: The time between two reports. Default: 10 seconds.
    ///   - factory: What makes the metrics. Default: that of the process.
    public init(
        of sources: any ReportsFigures..., every interval: Duration = .seconds(10),
        by factory: (any MetricsFactory)? = nil
    ) {
        (self.sources, self.interval, self.factory) = (sources, interval, factory)
    }

    /// Reports until the task is cancelled. With the trait `ServiceLifecycle` this is a `Service`, and a graceful
    /// shutdown ends it after a last report.
    /// - Throws: `CancellationError`.
    public func run() async throws {
        var state = Reported()
        repeat { await report(&state) } while try await pause()
        await report(&state)
    }

    /// Waits for the next report; `false` at a graceful shutdown.
    private func pause() async throws -> Bool {
        #if ServiceLifecycle
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        } catch is CancellationError where !Task.isCancelled {
            return false
        }
        #else
        try await Task.sleep(for: interval)
        #endif
        return true
    }

    /// What was reported last. A counter is kept, since it holds the fraction that its backend has no room for.
    struct Reported {
        fileprivate struct Identity: Hashable {
            var name: String
            var dimensions: [String: String]
        }

        fileprivate var values: [Identity: Meter] = [:]
        fileprivate var totals: [Identity: (counter: FloatingPointCounter, number: Double)] = [:]
    }

    /// Reports the state now, and what has happened since an earlier report.
    func report(_ last: inout Reported) async {
        let factory = factory ?? MetricsSystem.factory
        var now = Reported()
        for source in sources {
            for figure in await source.figures {
                let identity = Reported.Identity(name: figure.name, dimensions: figure.dimensions)
                let dimensions = figure.dimensions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
                switch figure.kind {
                case .value:
                    let meter = Meter(label: figure.name, dimensions: dimensions, factory: factory)
                    meter.set(figure.number)
                    now.values[identity] = meter
                case .total:
                    let known = last.totals[identity]
                    let counter =
                        known?.counter
                        ?? FloatingPointCounter(label: figure.name, dimensions: dimensions, factory: factory)
                    counter.increment(by: max(0, figure.number - (known?.number ?? 0)))
                    now.totals[identity] = (counter, figure.number)
                }
            }
        }
        // Also for backends that keep what is destroyed.
        for (identity, meter) in last.values where now.values[identity] == nil {
            meter.set(0)
            meter.destroy()
        }
        for (identity, total) in last.totals where now.totals[identity] == nil { total.counter.destroy() }
        last = now
    }
}

#if ServiceLifecycle
extension StateMetrics: Service {}
#endif
#endif
