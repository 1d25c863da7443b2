package import FoundationEssentials
package import HTTPTypes
import Synchronization

/// An exchange without a network, of a stub or a recording: its time on a clock, within its request's timeouts.
package struct PlayedExchange: Sendable {
    /// When a step comes: at a time since the start of the exchange, or so long after the step before it.
    package enum Moment: Sendable { case at(Duration), after(Duration) }

    package let request: TransportRequest
    private let transport: String
    private let readElapsed: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    package init(of request: TransportRequest, over transport: String, on clock: any Clock<Duration>) {
        (self.request, self.transport, readElapsed) = (request, transport, clock.stopwatch())
        // A longer sleep overflows in the system's clock, which crashes the process.
        sleep = { try await clock.sleep(for: min($0, .seconds(1 << 40))) }
    }

    /// Returns an error with this exchange.
    package func naming(_ error: any Error) -> any Error {
        (error as? NetworkError)?.during(request, transport: transport, elapsed: readElapsed()) ?? error
    }

    /// Waits for the head, or a part of the body after it, but no longer than the timeouts allow.
    /// - Returns: The fields after the body.
    /// - Throws: The timeout that comes first; ``NetworkError/cancelled`` if the task is cancelled.
    package func wait(_ moment: Moment, hasHead: Bool = false) async throws {
        let now = readElapsed()
        let time =
            switch moment {
            case .at(let time): max(time, now)
            case .after(let delay): now + max(.zero, delay)
            }
        guard let (end, timeout) = timeout(since: now, hasHead: hasHead), end < time else {
            return try await pause(time - now)
        }
        try await pause(end - now)
        throw timeout
    }

    /// Passes on the chunks of a request's body, which is read within the timeouts.
    ///
    /// A stream is the caller's own and may ignore its cancellation, so it is not waited for after a timeout.
    /// - Throws: The timeout that comes first; ``NetworkError/cancelled`` if the task is cancelled; an error of the
    ///   body.
    @discardableResult
    package func read(
        _ body: TransportRequest.Body, _ take: @escaping @Sendable (Data) throws -> Void
    ) async throws -> HTTPFields {
        let progress = Progress(time: readElapsed())
        let outcome = FirstOutcome<HTTPFields>()
        let reader = Task {
            do {
                try await body.read { piece in
                    progress.move(piece.count, at: readElapsed())
                    try take(piece)
                }
                let count = progress.count
                if let length = body.length, length != count {
                    throw NetworkError.bodyLengthMismatch(expected: length, got: "\(count)")
                }
                outcome.finish(.success(try await body.trailers()))
            } catch {
                outcome.finish(.failure(error))
            }
        }
        let watch = Task {
            do {
                while let (end, timeout) = timeout(since: progress.time, hasHead: false) {
                    let now = readElapsed()
                    guard now < end else { throw timeout }
                    try await pause(end - now)
                }
            } catch {
                outcome.finish(.failure(error))
            }
        }
        defer {
            reader.cancel()
            watch.cancel()
        }
        return try await outcome.value(orWhenCancelled: NetworkError.cancelled)
    }

    /// How far a request's body was read.
    private final class Progress: Sendable {
        private let state: Guarded<(count: Int, time: Duration)>

        init(time: Duration) { state = Guarded((0, time)) }

        func move(_ count: Int, at time: Duration) { state.withLock { $0 = ($0.count + count, time) } }

        var count: Int { state.withLock(\.count) }
        var time: Duration { state.withLock(\.time) }
    }

    /// Returns the timeout that ends an exchange first in which nothing has moved since a time.
    private func timeout(since move: Duration, hasHead: Bool) -> (end: Duration, error: NetworkError)? {
        let options = request.options
        var limits: [(Duration?, NetworkError)] = [
            (options.totalTimeout, .totalTimeout), (options.idleTimeout.map { move + $0 }, .idleTimeout),
        ]
        if !hasHead {
            let error = NetworkError(.firstByteTimeout, "no part of the response arrived in time")
            limits.append((options.firstByteTimeout, error))
        }
        guard let (end, limit) = limits.compactMap({ end, error in end.map { ($0, error) } }).min(by: { $0.0 < $1.0 })
        else { return nil }
        var error = limit
        error.phase = hasHead ? .receiving : .waiting
        return (end, error)
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

/// A body that arrives in chunks over a ``PlayedExchange``.
package final class PlayedBody: TransportResponse.BodySource {
    package typealias Chunk = (bytes: Data, moment: PlayedExchange.Moment)

    private let chunks: [Chunk]
    private let failure: (error: any Error, moment: PlayedExchange.Moment)?
    private let allTrailers: HTTPFields?
    private let exchange: PlayedExchange
    private let taken = Guarded(0)
    private let isOver = OneTimeFlag()

    package let metrics: TransportMetrics

    /// - Parameter failure: The error that ends the body after the last chunk.
    package init(
        _ chunks: [Chunk], failure: (error: any Error, moment: PlayedExchange.Moment)?, trailers: HTTPFields? = nil,
        metrics: TransportMetrics, over exchange: PlayedExchange
    ) {
        (self.chunks, self.failure, allTrailers) = (chunks, failure, trailers)
        (self.metrics, self.exchange) = (metrics, exchange)
    }

    package func next() async throws -> Data? {
        let index = taken.withLock { taken in
            defer { taken += 1 }
            return taken
        }
        guard !isOver.isRaised else { return nil }
        do {
            guard index < chunks.count else {
                guard let failure else {
                    _ = isOver.raise()
                    return nil
                }
                try await exchange.wait(failure.moment, hasHead: true)
                throw failure.error
            }
            try await exchange.wait(chunks[index].moment, hasHead: true)
        } catch {
            guard isOver.raise() else { return nil }
            throw exchange.naming(error)
        }
        return chunks[index].bytes
    }

    package func collect(upTo limit: Int?) async throws -> Data {
        let limit = limit ?? exchange.request.options.maximumBodyBytes
        var body = Data()
        while let chunk = try await next() {
            body += chunk
            guard body.count <= limit else {
                _ = isOver.raise()
                throw NetworkError.bodyTooLarge(limit: limit)
            }
        }
        return body
    }

    package var trailers: HTTPFields? { isOver.isRaised ? allTrailers : nil }
}

extension Clock where Duration == Swift.Duration {
    /// Returns a closure that returns the time since now.
    package func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
