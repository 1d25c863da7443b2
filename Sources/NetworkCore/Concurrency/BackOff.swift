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
        let doublings = max(0, min(failures - 1, 30))
        return min(limit, first * (1 << doublings) * (1 + jitter))
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
