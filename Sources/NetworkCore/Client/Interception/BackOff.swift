/// How long to wait before trying again: twice as long after each failure, up to a limit.
package struct BackOff: Sendable, Hashable {
    package var first: Duration
    package var limit: Duration

    package init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
    }

    /// The time to wait.
    /// - Parameters:
    ///   - failures: How many there were in a row, from 1.
    ///   - jitter: What is added, as a part of the time: between 0 and 1. Many who failed together come back apart.
    package func delay(after failures: Int, jitter: Double) -> Duration {
        // A time below 0 is none, and beyond what counts seconds its multiples end the process.
        let limit = max(.zero, min(limit, .seconds(Int64.max)))
        var delay = max(.zero, min(first, limit))
        // One by one and no further than the limit: the first may come from a server, and its multiples may overflow.
        for _ in 1..<max(1, min(failures, 31)) {
            guard delay < limit / 2 else {
                delay = limit
                break
            }
            delay *= 2
        }
        // Chance may be the caller's own: infinity and what is no number would end the process too.
        return min(limit, delay * (1 + (jitter > 0 ? min(jitter, 1) : 0)))
    }
}

extension NetworkError {
    /// Whether the exchange broke where another one may get through: the network, not what was said.
    package var isConnectionLoss: Bool {
        switch code {
        case .connectFailed, .nameNotResolved, .connectTimeout, .idleTimeout, .firstByteTimeout, .connectionLost,
            .truncatedBody, .lowSpeed:
            true
        default: false
        }
    }
}
