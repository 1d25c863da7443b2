import NetworkCore

/// The time of one replayed exchange, on its transport's clock and within its request's timeouts.
struct ReplayTime: Sendable {
    /// The part of the response that is waited for.
    enum Part { case head, body }

    private let options: TransportOptions
    private let readElapsed: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    init(_ options: TransportOptions, on clock: any Clock<Duration>) {
        self.options = options
        readElapsed = clock.stopwatch()
        // A longer sleep overflows in the system's clock, which crashes the process.
        sleep = { try await clock.sleep(for: min($0, .seconds(1 << 40))) }
    }

    /// The time since the start of the exchange.
    var elapsed: Duration { readElapsed() }

    /// Waits until a time since the start, but no longer than the timeouts allow.
    /// - Throws: The timeout that comes first; ``NetworkError/cancelled`` if the task is cancelled.
    func wait(until time: Duration, for part: Part) async throws {
        let elapsed = elapsed
        let delay = max(.zero, time - elapsed)
        var limits: [(Duration?, NetworkError)] = [
            (options.totalTimeout.map { $0 - elapsed }, .totalTimeout), (options.idleTimeout, .idleTimeout),
        ]
        if part == .head { limits.append((options.firstByteTimeout.map { $0 - elapsed }, .noFirstByte)) }
        let first = limits.compactMap { time, error in time.map { ($0, error) } }.min { $0.0 < $1.0 }
        guard let (limit, timeout) = first, limit < delay else { return try await pause(delay) }
        try await pause(limit)
        throw timeout.during(part == .head ? .waiting : .receiving)
    }

    /// Returns the start of a request's body, which is read within the timeouts.
    ///
    /// A stream is the caller's own and may ignore its cancellation, so it is not waited for after a timeout.
    /// - Parameter limit: The maximum number of bytes to keep.
    /// - Throws: The timeout that comes first; ``NetworkError/cancelled`` if the task is cancelled; an error of the
    ///   body.
    func collect(_ body: TransportRequest.Body?, upTo limit: Int) async throws -> Recording.Body? {
        guard let body else { return nil }
        if let bytes = body.bytes { return Recording.Body(bytes, limit: limit) }
        let reading = PassingBody(limit: limit, at: elapsed)
        let (outcomes, outcome) = AsyncStream<Result<Recording.Body, any Error>>.makeStream()
        let reader = Task {
            do {
                try await body.read { reading.append($0, at: elapsed) }
                let read = reading.record.body
                if let length = body.length, length != read.count {
                    throw NetworkError.bodyLengthMismatch(expected: length, got: "\(read.count)")
                }
                outcome.yield(.success(read))
            } catch {
                outcome.yield(.failure(error))
            }
        }
        let watch = Task {
            do { try await waitWhileSending(reading) } catch { outcome.yield(.failure(error)) }
        }
        defer {
            reader.cancel()
            watch.cancel()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw NetworkError.cancelled
    }

    /// Waits for the first timeout while a request's body is read. Returns at once if there is no timeout.
    private func waitWhileSending(_ reading: PassingBody) async throws {
        while true {
            let limits: [(Duration?, NetworkError)] = [
                (options.totalTimeout, .totalTimeout), (options.firstByteTimeout, .noFirstByte),
                (options.idleTimeout.map { reading.lastTime + $0 }, .idleTimeout),
            ]
            let ends = limits.compactMap { end, error in end.map { ($0, error) } }
            guard let (end, timeout) = ends.min(by: { $0.0 < $1.0 }) else { return }
            let now = elapsed
            guard now < end else { throw timeout.during(.waiting) }
            try await pause(end - now)
        }
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

extension NetworkError {
    fileprivate static var noFirstByte: NetworkError {
        NetworkError(.firstByteTimeout, "no part of the response arrived in time")
    }

    fileprivate func during(_ phase: Phase) -> NetworkError {
        var error = self
        error.phase = phase
        return error
    }
}
