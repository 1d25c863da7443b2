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
        var delay = min(first, limit)
        // One by one and no further than the limit: the first may come from a server, and its multiples may overflow.
        for _ in 0..<max(0, min(failures - 1, 30)) {
            guard delay < limit / 2 else {
                delay = limit
                break
            }
            delay *= 2
        }
        return min(limit, delay * (1 + jitter))
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
