import NetworkCore

/// The time of one stubbed exchange, on its dispatcher's clock and within its request's timeouts.
struct StubTime: Sendable {
    fileprivate let options: TransportOptions
    fileprivate let readElapsed: @Sendable () -> Duration
    fileprivate let sleep: @Sendable (Duration) async throws -> Void

    /// The time since the exchange began.
    var elapsed: Duration { readElapsed() }

    /// What is to come after a delay.
    enum Part { case head, body }

    /// Waits, no longer than the timeouts allow.
    /// - Throws: The timeout that is over first; ``NetworkError/cancelled``.
    func wait(_ delay: Duration, for part: Part) async throws {
        let elapsed = elapsed
        var limits: [(Duration?, NetworkError)] = [
            (options.totalTimeout.map { $0 - elapsed }, .totalTimeout), (options.idleTimeout, .idleTimeout),
        ]
        if part == .head {
            let error = NetworkError(.firstByteTimeout, "nothing of the response in time")
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
    /// The time of an exchange that begins now.
    func stubTime(of options: TransportOptions) -> StubTime {
        let start = now
        return StubTime(
            options: options,
            readElapsed: { start.duration(to: now) },
            // What the system's clock can't count ends the process.
            sleep: { try await sleep(for: min($0, .seconds(1 << 40))) }
        )
    }
}
