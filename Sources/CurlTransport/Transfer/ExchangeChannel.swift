import FoundationEssentials
import NetworkCore
import Synchronization

/// The successful end of an exchange. A class, since it is large and many functions pass it on.
final class ExchangeEnd: UnreadMetrics {
    let info: TransferInfo
    let sent: MonotonicTime
    let admitted: MonotonicTime
    /// When the transfer got the handle whose data `info` has.
    let begun: MonotonicTime
    let ended: MonotonicTime
    /// The number of body bytes from libcurl, before content decoding.
    let bodyBytes: Int
    let hasRequestBody: Bool
    /// When libcurl was given the last byte of the request's body; `nil` if it was not.
    let bodyDelivered: MonotonicTime?
    let tlsSession: TLSSession?
    /// How often the request went out, and how often as a repeat.
    let sending: SendingRecord
    /// The trailer lines after the body, parsed on demand.
    let trailerBytes: [UInt8]
    /// When the first line of the response arrived.
    let responded: MonotonicTime?

    /// - Parameter info: libcurl's data at the end of the transfer.
    init(_ transfer: Transfer, _ info: TransferInfo) {
        self.info = info
        sent = transfer.sent
        admitted = transfer.state.clocks.admitted ?? sent
        begun = transfer.state.clocks.begun ?? admitted
        ended = max(.now, admitted)
        bodyBytes = transfer.channel.receivedBytes
        hasRequestBody = transfer.hasRequestBody
        bodyDelivered = transfer.state.run.easy?.reader?.delivered
        tlsSession = transfer.state.run.tlsSession
        sending = transfer.state.sending
        trailerBytes = transfer.state.response.head.trailerBytes
        responded = transfer.state.response.responded
    }

    /// The metrics, built on demand.
    var metrics: TransportMetrics {
        var metrics = info.metrics(
            queued: admitted - sent,
            begun: begun - sent,
            total: ended - sent,
            bodyBytes: bodyBytes,
            hasRequestBody: hasRequestBody,
            tlsSession: tlsSession,
            sending: sending,
            responded: responded.map { $0 - sent }
        )
        if hasRequestBody { metrics.requestSent = bodyDelivered.map { $0 - sent } }
        return metrics
    }
}

/// The channel between the loop and the waiting caller: the head, then the body, then the end. It delivers each failure
/// once.
///
/// The loop reports what arrives and calls ``wakeUp()`` at the end of its round, so that a caller wakes once per round:
/// a small response, with head, body, and end, is one wake-up.
final class ExchangeChannel: Sendable {
    typealias HeadContinuation = Waiter<WholeHead>
    typealias ReaderContinuation = Waiter<Data?>

    /// The outcome of a reader's call.
    enum Reading {
        case done(Result<Data?, any Error>)
        case waits
    }

    fileprivate struct State: ~Copyable {
        /// The final head, until it is delivered.
        var head: WholeHead?
        var isHeadDelivered = false
        /// Whether part of the request's body had not gone out when the head arrived.
        var isSending = false
        var headWaiter: HeadContinuation?
        var flow = BodyFlow()
        var buffer = BodyBuffer()
        var reader: ReaderContinuation?
        var end: ExchangeEnd?
        var failure: (any Error)?
        var hasEnded: Bool { flow.hasEnded }
        /// A failure is thrown once; further reads return the end.
        var isFailureDelivered = false
    }

    /// The action to run outside the lock.
    enum WakeUp: Sendable {
        case head(HeadContinuation, Result<WholeHead, any Error>)
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

    /// Stores the final head; the next ``wakeUp()`` delivers it.
    /// - Parameter isSending: Whether part of the request's body has not gone out.
    func headArrived(_ head: WholeHead, whileSending isSending: Bool) {
        state.withLock { ($0.head, $0.isSending) = (head, isSending) }
    }

    /// Adds a chunk of the body.
    /// - Parameters:
    ///   - announced: The whole body's length in bytes, with its first chunk, to reserve memory. Capped at 1 MiB, so
    ///     that a server's claim can't make us allocate far ahead of the bytes.
    ///   - whenFull: Whether this transfer may be paused.
    ///   - append: Copies the chunk and returns whether there was memory.
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

    /// Ends the exchange; the next ``wakeUp()`` delivers the end. Only the first end counts.
    func end(_ end: Result<ExchangeEnd, any Error>) {
        _ = state.withLock { $0.end(end) }
    }

    /// Ends the exchange and delivers the end at once. Only the first end counts.
    /// - Returns: Whether this call was the first.
    @discardableResult
    func finish(_ end: Result<ExchangeEnd, any Error>) -> Bool {
        let (isFirst, wakeUp): (Bool, WakeUp?) = state.withLock { state in
            state.end(end) ? (true, state.nextWakeUp()) : (false, nil)
        }
        wakeUp?.run()
        return isFirst
    }

    /// Returns the wake-up that the loop has to run at the end of a round. There is at most one: a reader comes after
    /// the head.
    func wakeUp() -> WakeUp? { state.withLock { $0.nextWakeUp() } }

    /// Whether the sender is paused because no reader takes the bytes.
    var isPaused: Bool { state.withLock { $0.flow.isPaused } }

    /// The number of body bytes from libcurl so far, before content decoding.
    var receivedBytes: Int { state.withLock { $0.flow.received } }

    // MARK: The reader's side

    /// Waits for the head. Call once.
    func attach(_ continuation: HeadContinuation) {
        // The end may have come first.
        let wakeUp = state.withLock { state in
            state.headWaiter = continuation
            return state.nextWakeUp()
        }
        wakeUp?.run()
    }

    /// Reads the bytes at hand, or waits with `continuation`. Without a continuation, it only reports that it would
    /// wait.
    /// - Returns: The reading, and whether the loop must resume the sender.
    func read(_ continuation: ReaderContinuation?) -> (reading: Reading, resumesSender: Bool) {
        state.withLock { state in
            guard state.reader == nil else { return (.done(.failure(NetworkError.bodyReadTwice)), false) }
            guard state.flow.mode != .nothing else { return (.done(.success(nil)), false) }
            if continuation == nil, state.flow.held == 0, !state.flow.hasEnded { return (.waits, false) }
            let (reading, resumes) = state.flow.read()
            return (state.deliver(reading, continuation), resumes)
        }
    }

    /// Collects the whole body, or waits for its end with `continuation`.
    /// - Returns: The reading, whether the loop must resume the sender, and whether the limit is exceeded already.
    func collect(
        upTo limit: Int, _ continuation: ReaderContinuation?
    ) -> (reading: Reading, resumesSender: Bool, isTooLarge: Bool) {
        state.withLock { state in
            guard state.reader == nil else { return (.done(.failure(NetworkError.bodyReadTwice)), false, false) }
            guard state.flow.mode != .nothing else { return (.done(.success(nil)), false, false) }
            if continuation == nil, !state.flow.hasEnded { return (.waits, false, false) }
            let (reading, resumes, isTooLarge) = state.flow.collect(upTo: limit)
            if isTooLarge { return (.done(.failure(NetworkError.bodyTooLarge(limit: limit))), false, true) }
            return (state.deliver(reading, continuation), resumes, false)
        }
    }

    /// Discards the body: the reader is gone or has received an error. Further reads return the end.
    /// - Returns: Whether to notify the loop.
    func discard() -> Bool {
        state.withLock { state in
            if state.buffer.count > 0 { state.buffer = BodyBuffer() }
            if state.reader == nil { state.isFailureDelivered = true }
            return state.flow.discard()
        }
    }

    /// Whether part of the request's body had not gone out when the head arrived.
    var isSending: Bool { state.withLock { $0.isSending } }

    /// Whether nothing is left to read except how the exchange ended.
    var isAtEnd: Bool { state.withLock { $0.flow.mode == .nothing || $0.hasEnded && $0.flow.held == 0 } }

    /// The number of bytes that the reader has received.
    var deliveredBytes: Int { state.withLock { $0.flow.received - $0.flow.held } }

    /// The end of the exchange, if it succeeded.
    var end: ExchangeEnd? { state.withLock { $0.end } }
}

extension ExchangeChannel.State {
    /// - Returns: Whether this is the first end.
    fileprivate mutating func end(_ result: Result<ExchangeEnd, any Error>) -> Bool {
        guard !hasEnded else { return false }
        switch result {
        case .success(let end): self.end = end
        case .failure(let error): failure = error
        }
        flow.end()
        return true
    }

    fileprivate mutating func deliver(
        _ reading: BodyFlow.Reading, _ continuation: ExchangeChannel.ReaderContinuation?
    ) -> ExchangeChannel.Reading {
        switch reading {
        case .wait:
            reader = continuation
            return .waits
        case .everythingHeld, .atEnd: return .done(takeBody())
        }
    }

    /// Returns what a reader gets now: the held bytes, else the failure (once), else the end.
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
                // failure belongs to the body.
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

extension TransferInfo {
    /// Returns the transfer's metrics.
    /// - Parameters:
    ///   - queued: The wait before libcurl had the transfer.
    ///   - begun: The time from `send` until libcurl had the handle whose data this is.
    ///   - total: The time from `send` until now.
    ///   - bodyBytes: The number of body bytes from libcurl, before content decoding.
    ///   - hasRequestBody: Whether there was a body to send.
    ///   - tlsSession: The connection's TLS parameters, if known.
    ///   - sending: The record of how often the request went out.
    ///   - responded: The time from `send` until the first line of the response.
    func metrics(
        queued: Duration, begun: Duration, total: Duration, bodyBytes: Int, hasRequestBody: Bool,
        tlsSession: TLSSession?, sending: SendingRecord, responded: Duration? = nil
    ) -> TransportMetrics {
        var metrics = TransportMetrics(total: total)
        metrics.queued = queued
        let isReused = newConnections == 0
        metrics.connectionReused = isReused
        if !isReused {
            metrics.nameLookup = nameLookup.map { .microseconds($0) }
            metrics.connect = connect.map { .microseconds(max(0, $0 - (nameLookup ?? 0))) }
            metrics.tls = tls.map { .microseconds(max(0, $0 - (connect ?? 0))) }
        }
        metrics.requestSent = preTransfer.map { begun + .microseconds($0) }
        metrics.firstByte = firstByte.map { begun + .microseconds($0) }
        // libcurl's clock begins anew with each repeat, and below 8.3 it stops when an upload begins.
        let isOwn = !hasRequestBody && metrics.firstByte != nil && sending.attempts <= 1
        if let responded, !isOwn { metrics.firstByte = responded }
        metrics.httpVersion = httpVersion
        metrics.tlsVersion = tlsSession?.version
        metrics.tlsCipher = tlsSession?.cipher
        metrics.resends = max(0, sending.attempts - 1)
        metrics.repeats = sending.repeats
        metrics.remoteAddress = remote?.text
        metrics.localAddress = local?.text
        metrics.requestBodyBytes = hasRequestBody ? uploadedBytes : nil
        metrics.responseWireBytes = downloadedBytes
        metrics.responseBodyBytes = bodyBytes
        return metrics
    }
}
