import NetworkCore

/// The time of one stubbed exchange, on its dispatcher's clock and within its request's timeouts.
struct StubTime: Sendable {
    fileprivate let options: TransportOptions
    fileprivate let readElapsed: @Sendable () -> Duration
    fileprivate let sleep: @Sendable (Duration) async throws -> Void

    /// The time since the start of the exchange.
    var elapsed: Duration { readElapsed() }

    /// The part of the response that a delay precedes.
    enum Part { case head, body }

    /// Waits, but no longer than the timeouts allow.
    /// - Throws: The timeout that comes first; ``NetworkError/cancelled`` if the task is cancelled.
    func wait(_ delay: Duration, for part: Part) async throws {
        let elapsed = elapsed
        var limits: [(Duration?, NetworkError)] = [
            (options.totalTimeout.map { $0 - elapsed }, .totalTimeout), (options.idleTimeout, .idleTimeout),
        ]
        if part == .head {
            let error = NetworkError(.firstByteTimeout, "no part of the response arrived in time")
            limits.append((options.firstByteTimeout.map { $0 - elapsed }, error))
        }
        let first = limits.compactMap { time, error in time.map { ($0, error) } }.min { $0.0 < $1.0 }
        guard let (time, timeout) = first, time < delay else { return try await pause(delay) }
        try await pause(time)
        var error = timeout
        error.phase = part == .head ? .waiting : .receiving
        throw error
    }

    private func pause(_ delay: Duration) async throws {
        do {
            if delay > .zero { try await sleep(delay) }
            try Task.checkCancellation()
        } catch {
            throw NetworkError.cancelled
        }
    }
}

extension Clock where Duration == Swift.Duration {
    /// Returns the time of an exchange that starts now.
    func stubTime(of options: TransportOptions) -> StubTime {
        let start = now
        return StubTime(
            options: options,
            readElapsed: { start.duration(to: now) },
            // A longer sleep overflows in the system's clock, which ends the process.
            sleep: { try await sleep(for: min($0, .seconds(1 << 40))) }
        )
    }
}
