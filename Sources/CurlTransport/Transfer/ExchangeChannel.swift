import FoundationEssentials
import NetworkCore
import Synchronization

/// How an exchange ended well. A class, since it is large and passes through many hands.
final class ExchangeEnd: UnreadMetrics {
    let info: TransferInfo
    let sent: MonotonicTime
    let admitted: MonotonicTime
    let ended: MonotonicTime
    /// Decoded bytes.
    let bodyBytes: Int
    let hasRequestBody: Bool
    let tlsSession: TLSSession?
    /// How often the request went out, and how often that was a repeat; `nil` where it is not counted.
    let sending: SendingRecord?
    /// The lines after the body, parsed when asked for.
    let trailerBytes: [UInt8]

    /// - Parameter info: What libcurl tells at the end.
    init(_ transfer: Transfer, _ info: TransferInfo) {
        self.info = info
        sent = transfer.sent
        admitted = transfer.clocks.admitted ?? sent
        ended = max(.now, admitted)
        bodyBytes = transfer.channel.receivedBytes
        hasRequestBody = transfer.hasRequestBody
        tlsSession = transfer.tlsSession
        sending = Libcurl.found.has(.requestCheck) ? transfer.sending : nil
        trailerBytes = transfer.state.head.trailerBytes
    }

    /// Made when asked for.
    var metrics: TransportMetrics {
        info.metrics(
            queued: admitted - sent,
            total: ended - sent,
            bodyBytes: bodyBytes,
            hasRequestBody: hasRequestBody,
            tlsSession: tlsSession,
            sending: sending
        )
    }
}

/// Between the loop and the one who waits: the head, then the body, then the end. Each failure is delivered once.
///
/// The loop tells what arrives and asks for the ``wakeUp()`` at the end of its round, so that a caller wakes once per
/// round: a small response, head and body and end, is one wake-up.
final class ExchangeChannel: Sendable {
    typealias HeadContinuation = Waiter<[UInt8]>
    typealias ReaderContinuation = Waiter<Data?>

    /// What a reader's call comes to.
    enum Reading {
        case done(Result<Data?, any Error>)
        case waits
    }

    fileprivate struct State: ~Copyable {
        /// The final head, until it is delivered.
        var head: [UInt8]?
        var isHeadDelivered = false
        var headWaiter: HeadContinuation?
        var flow = BodyFlow()
        var buffer = BodyBuffer()
        var reader: ReaderContinuation?
        var end: ExchangeEnd?
        var failure: (any Error)?
        var hasEnded: Bool { flow.hasEnded }
        /// A failure is thrown once; what is read after it is the end.
        var isFailureDelivered = false
    }

    /// What to do outside the lock.
    enum WakeUp: Sendable {
        case head(HeadContinuation, Result<[UInt8], any Error>)
        case reader(ReaderContinuation, Result<Data?, any Error>)

        /// Whether the loop's own thread runs the task.
        var isOnLoop: Bool {
            switch self {
            case .head(let continuation, _): continuation.isOnLoop
            case .reader(let continuation, _): continuation.isOnLoop
            }
        }

        /// The task's priority.
        var priority: UInt8 {
            switch self {
            case .head(let continuation, _): continuation.priority
            case .reader(let continuation, _): continuation.priority
            }
        }

        func run() {
            switch self {
            case .head(let continuation, let result): continuation.resume(with: result)
            case .reader(let continuation, let result): continuation.resume(with: result)
            }
        }
    }

    private let state = Guarded(State())

    // MARK: The loop's side

    /// The final head is there; delivered by the next ``wakeUp()``.
    func headArrived(_ bytes: [UInt8]) { state.withLock { $0.head = bytes } }

    /// A piece of the body.
    /// - Parameters:
    ///   - announced: The whole body's length, with its first piece, to make room for it as far as that is believable:
    ///     a server's word must not make us allocate more than 1 MiB ahead of the bytes.
    ///   - whenFull: Whether this transfer may be paused.
    ///   - append: Copies the piece; tells whether there was memory.
    func bodyArrived(
        _ count: Int, of announced: Int? = nil, whenFull: BodyFlow.WhenFull, append: (inout BodyBuffer) -> Bool
    ) -> (arrival: BodyFlow.Verdict, received: Int, hasMemory: Bool) {
        state.withLock { state in
            if let announced { state.buffer.reserve(min(announced, 1 << 20)) }
            let arrival = state.flow.arrived(count, whenFull: whenFull)
            let hasMemory = arrival == .take ? append(&state.buffer) : true
            return (arrival, state.flow.received, hasMemory)
        }
    }

    /// The exchange is over; delivered by the next ``wakeUp()``. The first end counts.
    func end(_ end: Result<ExchangeEnd, any Error>) {
        _ = state.withLock { $0.end(end) }
    }

    /// The exchange is over; delivered at once. The first end counts.
    /// - Returns: Whether this is it.
    @discardableResult
    func finish(_ end: Result<ExchangeEnd, any Error>) -> Bool {
        let (isFirst, wakeUp): (Bool, WakeUp?) = state.withLock { state in
            state.end(end) ? (true, state.nextWakeUp()) : (false, nil)
        }
        wakeUp?.run()
        return isFirst
    }

    /// The end of a round: who has something to get, to be run by the caller. That is one at most: a reader comes after
    /// the head.
    func wakeUp() -> WakeUp? { state.withLock { $0.nextWakeUp() } }

    /// Whether the sender is stopped for a reader who does not come.
    var isPaused: Bool { state.withLock { $0.flow.isPaused } }

    /// Decoded bytes so far.
    var receivedBytes: Int { state.withLock { $0.flow.received } }

    // MARK: The reader's side

    /// Waits for the head. To be called once.
    func attach(_ continuation: HeadContinuation) {
        // The end may have come first.
        let wakeUp = state.withLock { state in
            state.headWaiter = continuation
            return state.nextWakeUp()
        }
        wakeUp?.run()
    }

    /// Reads what is there, or waits with `continuation`. Without one, it only tells.
    /// - Returns: The reading, and whether the loop must let the sender go on.
    func read(_ continuation: ReaderContinuation?) -> (reading: Reading, resumesSender: Bool) {
        state.withLock { state in
            guard state.reader == nil else { return (.done(.failure(NetworkError.bodyReadTwice)), false) }
            guard state.flow.mode != .nothing else { return (.done(.success(nil)), false) }
            if continuation == nil, state.flow.held == 0, !state.flow.hasEnded { return (.waits, false) }
            let (reading, resumes) = state.flow.read()
            return (state.answer(reading, continuation), resumes)
        }
    }

    /// Collects the whole body, or waits for its end with `continuation`.
    /// - Returns: The reading, whether the loop must let the sender go on, and whether the limit is broken already.
    func collect(
        upTo limit: Int, _ continuation: ReaderContinuation?
    ) -> (reading: Reading, resumesSender: Bool, isTooLarge: Bool) {
        state.withLock { state in
            guard state.reader == nil else { return (.done(.failure(NetworkError.bodyReadTwice)), false, false) }
            guard state.flow.mode != .nothing else { return (.done(.success(nil)), false, false) }
            if continuation == nil, !state.flow.hasEnded { return (.waits, false, false) }
            let (reading, resumes, isTooLarge) = state.flow.collect(upTo: limit)
            if isTooLarge { return (.done(.failure(NetworkError.bodyTooLarge(limit: limit))), false, true) }
            return (state.answer(reading, continuation), resumes, false)
        }
    }

    /// The reader has gone, or has got an error: what it still reads is the end.
    /// - Returns: Whether the loop has to be told.
    func discard() -> Bool {
        state.withLock { state in
            if state.buffer.count > 0 { state.buffer = BodyBuffer() }
            if state.reader == nil { state.isFailureDelivered = true }
            return state.flow.discard()
        }
    }

    /// Whether there is nothing left to read but how it ended.
    var isAtEnd: Bool { state.withLock { $0.flow.mode == .nothing || $0.hasEnded && $0.flow.held == 0 } }

    /// Whether a reader has been given so many bytes, and there are no more.
    func hasDelivered(_ count: Int) -> Bool { state.withLock { $0.flow.held == 0 && $0.flow.received == count } }

    /// How it ended, if it ended well.
    var end: ExchangeEnd? { state.withLock { $0.end } }
}

extension ExchangeChannel.State {
    /// - Returns: Whether it is the first end.
    fileprivate mutating func end(_ result: Result<ExchangeEnd, any Error>) -> Bool {
        guard !hasEnded else { return false }
        switch result {
        case .success(let end): self.end = end
        case .failure(let error): failure = error
        }
        flow.end()
        return true
    }

    fileprivate mutating func answer(
        _ reading: BodyFlow.Reading, _ continuation: ExchangeChannel.ReaderContinuation?
    ) -> ExchangeChannel.Reading {
        switch reading {
        case .wait:
            reader = continuation
            return .waits
        case .everythingHeld, .atEnd: return .done(takeBody())
        }
    }

    /// What a reader gets now: the held bytes, else the failure, once, else the end.
    private mutating func takeBody() -> Result<Data?, any Error> {
        let isWhole = flow.mode != .chunks
        if let error = failure, isWhole || buffer.count == 0 {
            if isFailureDelivered { return .success(nil) }
            isFailureDelivered = true
            return .failure(error)
        }
        let bytes = buffer.take()
        return .success(bytes.isEmpty ? nil : bytes)
    }

    fileprivate mutating func nextWakeUp() -> ExchangeChannel.WakeUp? {
        if let waiter = headWaiter {
            if let head, !isHeadDelivered {
                // A response whose head arrived and whose body then failed within one round is still a response: the
                // failure is the body's.
                headWaiter = nil
                self.head = nil
                isHeadDelivered = true
                return .head(waiter, .success(head))
            }
            if let error = failure {
                headWaiter = nil
                isFailureDelivered = true
                return .head(waiter, .failure(error))
            }
            return nil
        }
        guard let waiting = reader, flow.roundEnded() else { return nil }
        reader = nil
        flow.handOver()
        return .reader(waiting, takeBody())
    }
}
