import Foundation
import NetworkCore
import Synchronization

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
            limits.append((options.firstByteTimeout.map { $0 - elapsed }, .noFirstByte))
        }
        let first = limits.compactMap { time, error in time.map { ($0, error) } }.min { $0.0 < $1.0 }
        guard let (time, timeout) = first, time < delay else { return try await pause(delay) }
        try await pause(time)
        var error = timeout
        error.phase = part == .head ? .waiting : .receiving
        throw error
    }

    /// Returns a request body's bytes, read within the timeouts.
    ///
    /// A stream is the caller's own and may ignore its cancellation, so it is not waited for after a timeout.
    /// - Throws: The timeout that comes first; ``NetworkError/cancelled`` if the task is cancelled; an error of the
    ///   body.
    func collect(_ body: TransportRequest.Body?) async throws -> Data {
        if body == nil || body?.knownBytes != nil { return try await SentRequest.collect(body) {} }
        let lastMove = LastMove(elapsed)
        let (outcomes, outcome) = AsyncStream<Result<Data, any Error>>.makeStream()
        let reader = Task {
            do {
                let bytes = try await SentRequest.collect(body) { lastMove.time = elapsed }
                outcome.yield(.success(bytes))
            } catch {
                outcome.yield(.failure(error))
            }
        }
        let watch = Task {
            do {
                try await waitWhileSending(since: lastMove)
            } catch {
                outcome.yield(.failure(error))
            }
        }
        defer {
            reader.cancel()
            watch.cancel()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw NetworkError.cancelled
    }

    /// Waits for the first timeout while a request's body is read. Returns at once if there is no timeout.
    /// - Parameter lastMove: The time of the last chunk.
    /// - Throws: The timeout; ``NetworkError/cancelled`` if the task is cancelled.
    private func waitWhileSending(since lastMove: LastMove) async throws {
        while true {
            let limits: [(Duration?, NetworkError)] = [
                (options.totalTimeout, .totalTimeout),
                (options.firstByteTimeout, .noFirstByte),
                (options.idleTimeout.map { lastMove.time + $0 }, .idleTimeout),
            ]
            let ends = limits.compactMap { end, error in end.map { ($0, error) } }
            guard let (end, timeout) = ends.min(by: { $0.0 < $1.0 }) else { return }
            let now = elapsed
            guard now < end else {
                var error = timeout
                error.phase = .waiting
                throw error
            }
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

/// The time of the last chunk of a request's body.
private final class LastMove: Sendable {
    private let state: Guarded<Duration>

    init(_ time: Duration) { state = Guarded(time) }

    var time: Duration {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}

extension NetworkError {
    fileprivate static var noFirstByte: NetworkError {
        NetworkError(.firstByteTimeout, "no part of the response arrived in time")
    }
}

extension Clock where Duration == Swift.Duration {
    /// Returns the time of an exchange that starts now.
    func stubTime(of options: TransportOptions) -> StubTime {
        let start = now
        return StubTime(
            options: options,
            readElapsed: { start.duration(to: now) },
            // A longer sleep overflows in the system's clock, which crashes the process.
            sleep: { try await sleep(for: min($0, .seconds(1 << 40))) }
        )
    }
}
