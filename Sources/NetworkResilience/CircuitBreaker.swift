public import NetworkCore
import Synchronization

/// A step that stops sending to a server which fails: the calls fail at once, and the server has time to recover.
///
/// ```swift
/// client.interceptors.append(CircuitBreaker())
/// ```
///
/// Closed, it counts outcomes. When the share of failures reaches ``Options/failureRatio``, it opens: for
/// ``Options/firstBreakTime`` each request fails with ``NetworkCore/NetworkError/Code/circuitOpen``. Then it is
/// half-open: ``Options/probes`` requests go out, and the others still fail. If all probes succeed, it closes; if one
/// fails, it opens again, for twice the time, up to ``Options/breakTime``. An error that is no failure of the server,
/// such as a cancellation, is no outcome.
///
/// It belongs behind retries, so that it sees each attempt. Copies of a client share it.
public final class CircuitBreaker: Interceptor, ReportsFigures {
    /// The limits of a breaker. The defaults are Hystrix's. At a tenth in 30 s, as in Polly and .NET, a server of which
    /// a third fails served 22 % of the calls instead of 75 (`scripts/check-resilience`, 2026-11-28).
    public struct Options: Sendable {
        /// The share of failures that opens the breaker, from 0 to 1. Default: 0.5.
        public var failureRatio = 0.5
        /// The fewest outcomes within ``window`` that are judged. Default: 20.
        public var minimumOutcomes = 20
        /// The time over which outcomes are counted. Default: 10 s.
        public var window = Duration.seconds(10)
        /// How long the breaker stays open at first: a short trouble costs no long break. Default: 1 s.
        public var firstBreakTime = Duration.seconds(1)
        /// The longest time that it stays open. Default: 5 s.
        public var breakTime = Duration.seconds(5)
        /// The number of requests that must succeed to close it, and that are sent at once. Default: 1.
        public var probes = 1
        /// The outcomes that are failures. Default: ``Resilience/isTrouble(_:)``.
        public var isFailure: @Sendable (Result<TransportResponse, any Error>) -> Bool = Resilience.isTrouble

        /// Creates the defaults.
        public init() {}
    }

    /// The state of a breaker, for one key.
    public enum State: Sendable, Hashable {
        /// Requests go out.
        case closed
        /// Requests fail, for this time.
        case open(remaining: Duration)
        /// Some requests go out as probes.
        case halfOpen
    }

    private let key: ResilienceKey
    private let options: Options
    private let time: StepTime
    private let circuits: KeyedStates<Circuit>

    /// Creates a breaker.
    /// - Parameters:
    ///   - key: What shares a circuit. Default: the requests of one origin.
    ///   - options: The limits.
    ///   - clock: The clock, for tests.
    public init(
        by key: ResilienceKey = .origin, options: Options = Options(), clock: some Clock<Duration> = ContinuousClock()
    ) {
        (self.key, self.options, time) = (key, options, StepTime(clock))
        let elapsed = time.elapsed
        circuits = KeyedStates(isIdle: { $0.isIdle(at: elapsed(), options) }, make: { Circuit() })
    }

    /// The states of the keys that were met.
    public var states: [String: State] { circuits.map { $0.shown(at: time.elapsed()) } }

    /// `networklayer.breaker.open` by `key`: 1 if it is open, 0.5 if half-open, 0 if closed.
    public var figures: [Figure] {
        states.map { key, state in
            let open =
                switch state {
                case .closed: 0.0
                case .halfOpen: 0.5
                case .open: 1.0
                }
            return Figure("networklayer.breaker.open", open, by: ["key": key])
        }
    }

    /// Passes the request on while the circuit is closed, or as a probe.
    /// - Throws: ``NetworkCore/NetworkError/Code/circuitOpen``.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let name = key.name(request)
        let circuit = circuits.state(of: name)
        let permit = try circuit.enter(at: time.elapsed(), options, name)
        let outcome: Result<TransportResponse, any Error>
        do { outcome = .success(try await next(request)) } catch { outcome = .failure(call.reported(error)) }
        let isFailure = options.isFailure(outcome)
        // Any other error, such as a cancellation or a refusal on this side, says nothing of the server.
        let isKnown = if case .success = outcome { true } else { isFailure }
        circuit.leave(permit, isFailure: isKnown ? isFailure : nil, at: time.elapsed(), options)
        return try outcome.get()
    }
}

/// The circuit of one key.
private final class Circuit: Sendable {
    /// The number of a state; what began in an earlier one does not count in the present one.
    typealias Permit = Int

    private enum Phase { case closed, open(until: Duration), halfOpen(running: Int, succeeded: Int) }

    private struct State {
        var phase = Phase.closed
        var number = 0
        var outcomes = OutcomeWindow()
        /// The length of the next break, if it is not the first one.
        var nextBreak: Duration?

        mutating func open(at now: Duration, _ options: CircuitBreaker.Options) {
            let length = min(nextBreak ?? options.firstBreakTime, options.breakTime)
            nextBreak = length * 2
            enter(.open(until: now + length))
        }

        mutating func close() {
            nextBreak = nil
            enter(.closed)
        }

        mutating func enter(_ phase: Phase) {
            (self.phase, outcomes) = (phase, OutcomeWindow())
            number += 1
        }
    }

    private let state = Guarded(State())

    func enter(at now: Duration, _ options: CircuitBreaker.Options, _ name: String) throws -> Permit {
        try state.withLock { state in
            if case .open(let until) = state.phase {
                guard now >= until else { throw Self.refused(name, "for \((until - now).shortText) more") }
                state.enter(.halfOpen(running: 0, succeeded: 0))
            }
            if case .halfOpen(let running, let succeeded) = state.phase {
                guard running + succeeded < max(1, options.probes) else {
                    throw Self.refused(name, "until its probe has an answer")
                }
                state.phase = .halfOpen(running: running + 1, succeeded: succeeded)
            }
            return state.number
        }
    }

    func leave(_ permit: Permit, isFailure: Bool?, at now: Duration, _ options: CircuitBreaker.Options) {
        state.withLock { state in
            guard permit == state.number else { return }
            switch state.phase {
            case .open: return
            case .closed:
                guard let isFailure else { return }
                state.outcomes.add(isFailure: isFailure, at: now, window: options.window)
                let (failures, all) = state.outcomes.counts(at: now, window: options.window)
                if isFailure, all >= max(1, options.minimumOutcomes),
                    Double(failures) >= options.failureRatio * Double(all)
                {
                    state.open(at: now, options)
                }
            case .halfOpen(let running, let succeeded):
                switch isFailure {
                case nil: state.phase = .halfOpen(running: running - 1, succeeded: succeeded)
                case true?: state.open(at: now, options)
                case false?:
                    let isClosed = succeeded + 1 >= max(1, options.probes)
                    if isClosed {
                        state.close()
                    } else {
                        state.phase = .halfOpen(running: running - 1, succeeded: succeeded + 1)
                    }
                }
            }
        }
    }

    func isIdle(at now: Duration, _ options: CircuitBreaker.Options) -> Bool {
        state.withLock { state in
            guard case .closed = state.phase else { return false }
            return state.outcomes.counts(at: now, window: options.window).all == 0
        }
    }

    func shown(at now: Duration) -> CircuitBreaker.State {
        state.withLock { state in
            switch state.phase {
            case .closed: .closed
            case .open(let until): now < until ? .open(remaining: until - now) : .halfOpen
            case .halfOpen: .halfOpen
            }
        }
    }

    private static func refused(_ name: String, _ howLong: String) -> NetworkError {
        NetworkError(
            .circuitOpen,
            "too many requests to \(Redaction.visible(name)) have failed: nothing is sent \(howLong) (CircuitBreaker)",
            phase: .preparing)
    }
}

/// The outcomes of a sliding window, in tenths of its length.
struct OutcomeWindow: Sendable {
    private static let slices = 10
    private var counts: [(slice: Int, failures: Int, all: Int)] = []

    mutating func add(isFailure: Bool, at now: Duration, window: Duration) {
        let slice = Self.slice(now, window)
        counts.removeAll { $0.slice <= slice - Self.slices }
        if counts.last?.slice != slice { counts.append((slice, 0, 0)) }
        counts[counts.count - 1].all += 1
        if isFailure { counts[counts.count - 1].failures += 1 }
    }

    func counts(at now: Duration, window: Duration) -> (failures: Int, all: Int) {
        let slice = Self.slice(now, window)
        return counts.reduce(into: (0, 0)) { sum, count in
            guard count.slice > slice - Self.slices else { return }
            sum.0 += count.failures
            sum.1 += count.all
        }
    }

    private static func slice(_ now: Duration, _ window: Duration) -> Int {
        Int(now / max(.milliseconds(1), window) * Double(slices))
    }
}
