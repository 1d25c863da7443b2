import NetworkLayer

/// Sends the same requests over several transports and records the outcomes.
///
/// The transports take turns of a few requests and never run at the same time, because they would slow one another
/// down. Each round starts with a different transport, so that no transport always goes first.
struct Comparison: Sendable {
    let transports: [any HTTPTransport]
    /// The number of requests for each URL and transport.
    let requests: Int
    /// The number of requests at once, which is also the size of a turn.
    let concurrency: Int
    let options: TransportOptions

    /// Returns one observation for each transport, in the order of ``transports``.
    /// - Throws: `CancellationError`.
    func observe(_ url: RequestURL) async throws -> [Observation] {
        var observations = transports.map { Observation(transport: $0.name) }
        var sent = 0
        var round = 0
        while sent < requests {
            let count = min(concurrency, requests - sent)
            for turn in transports.indices {
                let index = (turn + round) % transports.count
                try Task.checkCancellation()
                await take(turn: count, of: url, over: transports[index], into: &observations[index])
            }
            sent += count
            round += 1
        }
        try Task.checkCancellation()
        return observations
    }

    private func take(
        turn count: Int,
        of url: RequestURL,
        over transport: any HTTPTransport,
        into observation: inout Observation
    ) async {
        let start = ContinuousClock.now
        await withTaskGroup(of: (Result<Snapshot, any Error>, Duration).self) { group in
            for _ in 0..<count { group.addTask { await exchange(url, over: transport) } }
            for await (outcome, duration) in group {
                switch outcome {
                case .success(let snapshot): observation.record(snapshot, after: duration)
                case .failure(let error): observation.record(error)
                }
            }
        }
        observation.busy += ContinuousClock.now - start
    }

    private func exchange(
        _ url: RequestURL,
        over transport: any HTTPTransport
    ) async -> (Result<Snapshot, any Error>, Duration) {
        let start = ContinuousClock.now
        do {
            let response = try await transport.send(TransportRequest(url: url, options: options))
            let body = try await response.body.collect(upTo: options.maximumBodyBytes)
            let elapsed = ContinuousClock.now - start
            let head = response.head
            return (.success(Snapshot(status: head.status.code, headerFields: head.headerFields, body: body)), elapsed)
        } catch {
            return (.failure(error), ContinuousClock.now - start)
        }
    }
}
