import FoundationEssentials
import HTTPTypes
import NetworkCore
import Synchronization

/// The channel between the producer of a streamed request body, which runs as a task, and libcurl, which requests bytes
/// on the loop's thread.
final class UploadChannel: Sendable {
    private struct State {
        var flow: UploadState
        /// The number of times the body was restarted; chunks from a producer of an earlier round are ignored.
        var round = 0
        var isStarted = false
        var task: Task<Void, Never>?
        var reading: StreamReading?
        /// Whether the response is over, and the body has its last second.
        var isLeft = false
        /// The fields after the body, once it has been produced.
        var trailers = HTTPFields()
        var waitingProducer: CheckedContinuation<Void, Never>?
        var resumeSender: (@Sendable () -> Void)?

        mutating func takeRound() -> Round {
            Round(producer: task.take(), waiting: waitingProducer.take(), chunks: flow)
        }
    }

    /// What goes with a round, outside the lock: the producer and the memory of its chunks may run a caller's code,
    /// which may end the transfer.
    private struct Round {
        let producer: Task<Void, Never>?
        let waiting: CheckedContinuation<Void, Never>?
        let chunks: UploadState

        consuming func end() {
            producer?.cancel()
            waiting?.resume()
        }
    }

    private let producer: BodyProducer
    private let state: Guarded<State>

    /// The body's length in bytes, if known.
    var length: Int? { producer.length }

    /// Whether trailer fields may follow the body.
    var hasTrailers: Bool { producer.hasTrailers }
    /// The fields after the body, once it has been produced.
    var trailers: HTTPFields { state.withLock(\.trailers) }

    /// Signals the task that starts the producer that libcurl wants the body, for the first time or again.
    private let starts: AsyncStream<Int>.Continuation

    /// Creates a channel, which ``close()`` ends. The producer has the priority and the task-local values of the task
    /// that creates the channel.
    init(_ producer: BodyProducer) {
        self.producer = producer
        state = Guarded(State(flow: UploadState(length: producer.length, keepsStart: !producer.isReplayable)))
        let (rounds, starts) = AsyncStream<Int>.makeStream()
        self.starts = starts
        Task { for await round in rounds { run(round: round) } }
    }

    /// - Parameter resume: Called on any thread when libcurl found no bytes earlier and can request them again.
    func onMore(_ resume: @escaping @Sendable () -> Void) { state.withLock { $0.resumeSender = resume } }

    // MARK: The loop's side

    /// Takes at most `count` bytes, as ``UploadState/take(_:pauses:)`` does. The first call starts the producer, so
    /// that it does not run before there is a connection.
    func take(_ count: Int, pauses: Bool) -> UploadState.Taking {
        let (taking, producer, _) = state.withLock { state in
            if !state.isStarted {
                state.isStarted = true
                starts.yield(state.round)
            }
            let (taking, wakesProducer) = state.flow.take(count, pauses: pauses)
            return (taking, wakesProducer ? state.waitingProducer.take() : nil, state.flow.released.take())
        }
        producer?.resume()
        return taking
    }

    /// Restarts the body from the first byte. A one-time stream has only the start that was kept.
    /// - Returns: Whether that is possible.
    func restart() -> Bool {
        let (isPossible, ended) = state.withLock { state in
            guard state.isStarted else { return (true, nil) as (Bool, Round?) }
            guard producer.isReplayable else { return (state.flow.rewind(), nil) }
            let ended = state.takeRound()
            state.round += 1
            state.isStarted = false
            state.flow.restart()
            return (true, ended)
        }
        ended?.end()
        return isPossible
    }

    /// Records that the response is over: the rest of the body is sent only as long as no other exchange reads it.
    func leave() {
        state.withLock { state in
            state.isLeft = true
            return state.reading
        }?.leave()
    }

    /// Ends the channel and cancels the producer, since the transfer is over.
    func close() {
        let ended = state.withLock { state in
            let ended = state.takeRound()
            state.flow.close()
            state.resumeSender = nil
            return ended
        }
        starts.finish()
        ended.end()
    }

    // MARK: The producer's side

    private func run(round: Int) {
        let reading: StreamReading? = state.withLock { state in
            guard state.round == round, !state.flow.isClosed else { return nil }
            let reading = StreamReading(isLeft: state.isLeft)
            let task = Task { [self, producer] in
                do {
                    try await StreamReading.$current.withValue(reading) {
                        try await producer.run { try await self.deliver($0, round: round) }
                        if producer.hasTrailers { keep(try await producer.checkedTrailers(), round: round) }
                    }
                    end(nil, round: round)
                } catch {
                    end(error, round: round)
                }
            }
            (state.reading, state.task) = (reading, task)
            return reading
        }
        // Outside the lock, which `stop` takes: another reading may have ended this one already.
        reading?.onCancel { [weak self] in self?.stop(round: round) }
    }

    /// Ends a round for an exchange that reads the body anew. libcurl, which asks for more, ends the transfer.
    private func stop(round: Int) {
        let (ended, resume) = state.withLock { state in
            guard state.round == round else { return (nil, nil) as (Round?, (@Sendable () -> Void)?) }
            let ended = state.takeRound()
            state.flow.close()
            return (ended, state.resumeSender)
        }
        ended?.end()
        resume?()
    }

    private typealias Delivered = (UploadState.Delivery, (@Sendable () -> Void)?, Data?)

    private func deliver(_ chunk: Data, round: Int) async throws {
        let (delivery, resume, _) = state.withLock { state in
            guard state.round == round else { return (.stop, nil, nil) as Delivered }
            let (delivery, wakesSender) = state.flow.deliver(chunk)
            return (delivery, wakesSender ? state.resumeSender : nil, state.flow.replaced.take())
        }
        resume?()
        switch delivery {
        case .proceed: break
        case .stop: throw CancellationError()
        case .wait: await waitForRoom(round: round)
        }
    }

    private func keep(_ trailers: HTTPFields, round: Int) {
        state.withLock { if $0.round == round { $0.trailers = trailers } }
    }

    private func waitForRoom(round: Int) async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard state.round == round, state.flow.needsRoom else { return false }
                state.waitingProducer = continuation
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }

    private func end(_ error: (any Error)?, round: Int) {
        let resume = state.withLock { state in
            state.round == round && state.flow.end(error) ? state.resumeSender : nil
        }
        resume?()
    }
}
