import HTTPTypes
public import NetworkCore
import Synchronization

/// A step that sends a request a second time when the first one takes unusually long, and takes the response that comes
/// first. The other exchange is cancelled.
///
/// Only requests that may be sent twice are hedged: idempotent methods
/// ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)) whose body can be sent again. The second
/// request goes out when the first one has no head after the ``percentile`` of the recent ones of its key. A shared
/// ``NetworkCore/RetryInterceptor/Budget`` keeps hedges and retries together from doubling the load. A response in
/// trouble (``Resilience/isTrouble(_:)``) waits for the other one. Both requests are a part of one call, so its
/// redirects may be those of either.
public final class Hedging: Interceptor {
    /// The share of requests that are expected to be faster. Default: 0.95, which hedges one in twenty.
    public let percentile: Double
    /// The delay before there are ``minimumTimes`` times of a key. Default: 1 s.
    public let initialDelay: Duration
    /// The number of times that are needed for a percentile: 20.
    public static let minimumTimes = 20
    private let key: ResilienceKey
    private let budget: RetryInterceptor.Budget
    private let fillsBudget: Bool
    private let time: StepTime
    private let times: KeyedStates<RecentTimes>

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .options, .put, .delete]

    /// Creates a step.
    /// - Parameters:
    ///   - percentile: The share of requests that are expected to be faster, between 0 and 1.
    ///   - initialDelay: The delay while too few times are known.
    ///   - key: What shares the times. Default: the requests of one route.
    ///   - budget: The budget of the retries in front, which fill it. Default: one of its own.
    ///   - clock: The clock, for tests.
    public init(
        after percentile: Double = 0.95, initialDelay: Duration = .seconds(1), by key: ResilienceKey = .route,
        budget: RetryInterceptor.Budget? = nil, clock: some Clock<Duration> = ContinuousClock()
    ) {
        (self.percentile, self.initialDelay, self.key) = (percentile > 0 ? min(percentile, 1) : 0, initialDelay, key)
        (self.budget, fillsBudget) = (budget ?? .init(), budget == nil)
        time = StepTime(clock)
        times = KeyedStates(isIdle: { _ in true }, make: { RecentTimes() })
    }

    /// Passes the request on, and again if it takes long.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        guard Self.methods.contains(request.method), request.body?.isReplayable ?? true else {
            return try await next(request)
        }
        if fillsBudget { budget.earn() }
        let recent = times.state(of: key.name(request))
        let delay = recent.percentile(percentile) ?? initialDelay
        return try await withThrowingTaskGroup(of: Attempt.self) { group in
            var running = 1
            let begin = time.elapsed()
            group.addTask { await Attempt { try await next(request) } }
            group.addTask { [time] in
                try? await time.sleep(delay)
                return .timer
            }
            var trouble: Result<TransportResponse, any Error>?
            while let attempt = try await group.next() {
                switch attempt {
                case .timer:
                    guard !Task.isCancelled, trouble == nil, budget.spend() else { continue }
                    running += 1
                    group.addTask { await Attempt { try await next(request) } }
                case .outcome(let outcome):
                    running -= 1
                    // A server that refuses the second request at once may still respond to the first one.
                    if Resilience.isTrouble(outcome) || (try? outcome.get()) == nil {
                        if running > 0 {
                            trouble = outcome
                            continue
                        }
                    } else {
                        // Where the second one was first, the first one would have taken this time at least.
                        recent.add(time.elapsed() - begin)
                    }
                    group.cancelAll()
                    if case .success(let other)? = trouble { await other.end() }
                    // One that comes at the same moment is not needed.
                    for try await case .outcome(.success(let other)) in group { await other.end() }
                    return try outcome.get()
                }
            }
            throw NetworkError.cancelled
        }
    }

    private enum Attempt: Sendable {
        case timer
        case outcome(Result<TransportResponse, any Error>)

        init(_ send: () async throws -> TransportResponse) async {
            do { self = .outcome(.success(try await send())) } catch { self = .outcome(.failure(error)) }
        }
    }
}

/// The latest times of one key.
private final class RecentTimes: Sendable {
    private static let maximum = 200
    private let times = Guarded<(all: [Duration], next: Int)>(([], 0))

    func add(_ time: Duration) {
        times.withLock { times in
            if times.all.count < Self.maximum { return times.all.append(time) }
            times.all[times.next] = time
            times.next = (times.next + 1) % Self.maximum
        }
    }

    func percentile(_ share: Double) -> Duration? {
        let sorted = times.withLock(\.all).sorted()
        guard sorted.count >= Hedging.minimumTimes else { return nil }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * max(0, share)))]
    }
}
