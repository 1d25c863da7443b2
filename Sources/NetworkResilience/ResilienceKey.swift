public import NetworkCore
import Synchronization

/// What shares one state of a breaker or a limit.
public struct ResilienceKey: Sendable {
    let name: @Sendable (TransportRequest) -> String

    /// Creates a key by a name: requests with the same one share a state. It must not grow with values, such as a URL
    /// does: of the names, a step keeps ``maximumNames``. It is shown in errors, so it must be no secret either.
    public init(_ name: @escaping @Sendable (TransportRequest) -> String) { self.name = name }

    /// Scheme, host and port of the request's URL.
    public static let origin = ResilienceKey { "\($0.url.scheme)://\($0.url.host):\($0.url.effectivePort)" }
    /// The origin and the method with the path's template (``NetworkCore/TransportRequest/template``).
    public static let route = ResilienceKey { request in
        "\(request.method.rawValue) \(origin.name(request))\(request.template ?? "")"
    }
    /// One state for all requests of the step.
    public static let all = ResilienceKey { _ in "all" }

    /// The number of names that have a state of their own. Beyond it, an idle one makes room; if none is idle, further
    /// names share one.
    public static let maximumNames = 1_024
}

/// The states of a step, by name.
final class KeyedStates<State: AnyObject & Sendable>: Sendable {
    private let states = Guarded<[String: State]>([:])
    private let make: @Sendable () -> State
    private let isIdle: @Sendable (State) -> Bool

    init(isIdle: @escaping @Sendable (State) -> Bool, make: @escaping @Sendable () -> State) {
        (self.isIdle, self.make) = (isIdle, make)
    }

    func state(of name: String) -> State {
        states.withLock { states in
            if let known = states[name] { return known }
            var name = name
            if states.count >= ResilienceKey.maximumNames {
                for (other, state) in states where isIdle(state) { states[other] = nil }
                if states.count >= ResilienceKey.maximumNames { name = "others" }
                if let shared = states[name] { return shared }
            }
            let new = make()
            states[name] = new
            return new
        }
    }

    func map<Value: Sendable>(_ read: (State) -> Value) -> [String: Value] {
        states.withLock { $0 }.mapValues(read)
    }
}

/// The time of a step, which a test moves.
struct StepTime: Sendable {
    /// The time since the step was made.
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        // The system's sleep leaves nothing behind when it is cancelled; the clock's own would.
        sleep = clock is ContinuousClock ? TimeSource.system.sleep : TimeSource(clock: clock).sleep
    }
}
