/// The delay before another attempt: it doubles after each failure, up to a limit.
struct BackOff: Sendable, Hashable {
    var first: Duration
    var limit: Duration

    init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
    }

    /// Returns the delay.
    /// - Parameters:
    ///   - failures: The number of failures in a row, from 1.
    ///   - jitter: The part of the delay that is added to it, between 0 and 1, so that clients that failed together
    ///     don't retry together.
    func delay(after failures: Int, jitter: Double) -> Duration {
        // A negative time counts as 0; multiples of a `Duration` beyond `Int64` seconds trap.
        let limit = max(.zero, min(limit, .seconds(Int64.max)))
        var delay = max(.zero, min(first, limit))
        // Stepwise, and no further than the limit: the first delay may come from a server, and its multiples may
        // overflow.
        for _ in 1..<max(1, min(failures, 31)) {
            guard delay < limit / 2 else {
                delay = limit
                break
            }
            delay *= 2
        }
        // The random number may be the caller's own; infinity and NaN would trap too.
        return min(limit, delay * (1 + (jitter > 0 ? min(jitter, 1) : 0)))
    }
}

extension NetworkError {
    /// Whether the network broke the exchange, so that another one may succeed.
    var isConnectionLoss: Bool { Code.networkFailures.contains(code) }
}
