import Foundation
import HTTPTypes
public import NetworkCore
import Synchronization

/// A step that sends no more than a rate, and pauses when the server asks for it.
///
/// ```swift
/// client.exchangeInterceptors.append(RateLimit(50, per: .seconds(1), burst: 10))
/// ```
///
/// Requests beyond the rate wait in order, each at most ``maximumWait``; one that would wait longer fails at once with
/// ``NetworkCore/NetworkError/Code/overloaded``. A response 429 or 503 with `Retry-After`, and one whose `RateLimit`
/// ([draft](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/)) or `X-RateLimit-Remaining` says
/// that nothing is left, stops the key until the time that it names. Times beyond ``maximumPause`` count as that.
public final class RateLimit: Interceptor {
    /// The longest time that a request waits. Default: 1 s.
    public let maximumWait: Duration
    /// The longest pause that a server can ask for: 60 s.
    public static let maximumPause = Duration.seconds(60)
    private let key: ResilienceKey
    private let time: StepTime
    private let buckets: KeyedStates<Bucket>

    /// Creates a limit.
    /// - Parameters:
    ///   - number: The number of requests in each `period`, above 0.
    ///   - period: The time for that number.
    ///   - burst: The number of requests that may go out at once, from 1 to a million. Default: 1.
    ///   - key: What shares the rate. Default: the requests of one origin.
    ///   - maximumWait: The longest wait.
    ///   - clock: The clock, for tests.
    public init(
        _ number: Int, per period: Duration, burst: Int = 1, by key: ResilienceKey = .origin,
        maximumWait: Duration = .seconds(1), clock: some Clock<Duration> = ContinuousClock()
    ) {
        (self.key, self.maximumWait, time) = (key, maximumWait, StepTime(clock))
        let interval = max(.zero, min(period, TransportOptions.maximumTimeout)) / max(1, number)
        let (burst, elapsed) = (min(max(1, burst), 1_000_000), time.elapsed)
        buckets = KeyedStates(
            isIdle: { $0.isFull(at: elapsed()) }, make: { Bucket(interval: interval, burst: burst) })
    }

    /// The time for which each key would make a request wait now.
    public var waits: [String: Duration] { buckets.map { $0.wait(at: time.elapsed()) } }

    /// Passes the request on in its turn.
    /// - Throws: ``NetworkCore/NetworkError/Code/overloaded``.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let name = key.name(request)
        let bucket = buckets.state(of: name)
        let limit = min(maximumWait, call.remaining ?? maximumWait)
        switch bucket.take(at: time.elapsed(), waitingAtMost: limit) {
        case .failure(let refusal):
            throw NetworkError(
                .overloaded, "the next request to \(Redaction.visible(name)) may go out in \(refusal.wait) (RateLimit)",
                phase: .queued)
        case .success(let wait) where wait > .zero:
            do { try await time.sleep(wait) } catch { throw NetworkError.cancelled }
        case .success: break
        }
        let response = try await next(request)
        if let pause = Self.pause(after: response) {
            bucket.pause(until: time.elapsed() + min(pause, Self.maximumPause))
        }
        return response
    }

    /// Returns the time for which a server asks to be left alone.
    static func pause(after response: TransportResponse) -> Duration? {
        let fields = response.head.headerFields
        if [429, 503].contains(response.status.code), let pause = RetryAfter.duration(in: fields, now: Date()) {
            return pause
        }
        // `"default";r=0;t=30`
        if let text = fields[.init("RateLimit")!] {
            let parameters = text.split(separator: ";").dropFirst().map { $0.filter { $0 != " " } }
            let values = Dictionary(
                parameters.compactMap { parameter -> (Substring, Int)? in
                    let parts = parameter.split(separator: "=", maxSplits: 1)
                    return parts.count == 2 ? Int(parts[1]).map { (parts[0], $0) } : nil
                }, uniquingKeysWith: { first, _ in first })
            if values["r"] == 0, let seconds = values["t"], seconds > 0 { return .seconds(min(seconds, 86_400)) }
        }
        guard fields[.init("X-RateLimit-Remaining")!] == "0",
            let seconds = fields[.init("X-RateLimit-Reset")!].flatMap({ Int($0) }), seconds > 0
        else { return nil }
        // Some servers write the date, in seconds since 1970.
        let now = Int(Date().timeIntervalSince1970)
        return .seconds(min(max(0, seconds > 1_000_000_000 ? seconds - now : seconds), 86_400))
    }
}

/// A token bucket as one number: the time at which it would be full again (the generic cell rate algorithm).
final class Bucket: Sendable {
    struct Refusal: Error { let wait: Duration }

    private let interval: Duration
    private let tolerance: Duration
    private let fullAt = Guarded(Duration.zero)
    private let pausedUntil = Guarded(Duration.zero)

    init(interval: Duration, burst: Int) {
        self.interval = interval
        tolerance = interval * (burst - 1)
    }

    func isFull(at now: Duration) -> Bool { fullAt.withLock { $0 <= now } && pausedUntil.withLock { $0 <= now } }

    func wait(at now: Duration) -> Duration { fullAt.withLock { wait(at: now, fullAt: $0) } }

    private func wait(at now: Duration, fullAt: Duration) -> Duration {
        max(.zero, max(fullAt - tolerance, pausedUntil.withLock(\.self)) - now)
    }

    /// Takes a token, which may be one of the future.
    /// - Returns: The time to wait for it; the refusal if that is too long, and then nothing was taken.
    func take(at now: Duration, waitingAtMost limit: Duration) -> Result<Duration, Refusal> {
        fullAt.withLock { fullAt in
            let wait = wait(at: now, fullAt: fullAt)
            guard wait <= limit else { return .failure(Refusal(wait: wait)) }
            fullAt = max(fullAt, now + wait) + interval
            return .success(wait)
        }
    }

    func pause(until time: Duration) { pausedUntil.withLock { $0 = max($0, time) } }
}
