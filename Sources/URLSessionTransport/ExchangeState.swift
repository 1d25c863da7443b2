import Foundation
import NetworkCore

/// The bookkeeping of one exchange: an event goes in, a reaction comes out. Nothing here waits, locks, or calls other
/// code.
///
/// created → running → ended, or created → ended if the cancellation or a deadline comes before the start. Events after
/// the end are ignored: a task's callbacks still arrive for a while after a cancellation. The head is delivered when it
/// is there, or with the end; the reader of the body may come before or after the end.
struct ExchangeState {
    typealias Instant = ContinuousClock.Instant

    /// The actions that follow an event, to perform outside the lock.
    struct Reaction {
        /// The head, or why there is none. At most one event has one.
        var head: Result<HTTPResponse, NetworkError>?
        /// What the waiting reader gets; `nil` inside means the end of the body.
        var reading: Result<Data?, NetworkError>?
        /// Whether the exchange is over. At most one event sets it.
        var isEnd = false
        /// Whether to cancel the task.
        var cancelsTask = false
        /// The time as of which to find out if there is a connection, and report it to
        /// ``connectionChecked(isOpen:at:)``; `nil` for no check.
        var checksConnection: Instant?
        /// Whether ``ExchangeState/nextDeadline`` has moved earlier.
        var setsAlarm = false
        /// The figures for the progress handler.
        var progress: (received: Int, expected: Int?)?
    }

    private enum Stage { case created, running, ended }

    let request: TransportRequest
    private var stage = Stage.created
    private var clock: ExchangeClock
    private var head: HTTPResponse?
    private var announcedLength: Int?
    /// Whether the next head may be a proxy's response to CONNECT, which is not the server's.
    private var headMayBeProxys: Bool
    private var isHeadDelivered = false
    private var body = BodyInbox()
    private var sentBytes = 0
    private var firstByteAt: Instant?
    private var endedAt: Instant?

    init(_ request: TransportRequest, throughProxy: Bool = false, at now: Instant) {
        self.request = request
        headMayBeProxys = throughProxy && request.url.scheme == "https"
        clock = ExchangeClock(request.options, at: now)
    }

    // MARK: The caller

    /// Starts the exchange; returns `false` if it was started or has ended.
    mutating func begin() -> Bool {
        guard stage == .created else { return false }
        stage = .running
        return true
    }

    /// Ends the exchange for its caller.
    mutating func cancel(at now: Instant) -> Reaction { end(.cancelled, at: now) }

    // MARK: The reader

    /// Returns the next bytes, or waits for them.
    mutating func read(isCancelled: Bool = false, at now: Instant) -> (reading: BodyInbox.Reading, reaction: Reaction) {
        giveUp(isCancelled: isCancelled, at: now) ?? (body.readNext(), Reaction())
    }

    /// Fails a read that comes after the total timeout or in a cancelled task, even if bytes are at hand.
    private mutating func giveUp(
        isCancelled: Bool, at now: Instant
    ) -> (reading: BodyInbox.Reading, reaction: Reaction)? {
        guard isCancelled || clock.isOver(at: now), !body.isAtEnd, !body.hasReader else { return nil }
        var failure = isCancelled ? NetworkError.cancelled : .totalTimeout
        failure.phase = .receiving
        let reaction = end(failure, at: now)
        _ = body.discard()
        return (.done(.failure(failure)), reaction)
    }

    /// Waits for the end and returns the whole rest.
    mutating func collect(
        upTo limit: Int?, isCancelled: Bool = false, at now: Instant
    ) -> (reading: BodyInbox.Reading, reaction: Reaction) {
        if let over = giveUp(isCancelled: isCancelled, at: now) { return over }
        let limit = limit ?? request.options.maximumBodyBytes
        if stage == .running, !body.hasReader, let length = expectedLength, length - body.read > limit {
            return (.done(.failure(.bodyTooLarge(limit: limit))), discard(at: now))
        }
        let (reading, isTooLarge) = body.collect(upTo: limit)
        return (reading, isTooLarge ? discard(at: now) : Reaction())
    }

    /// Discards the rest of the body. A small rest may arrive for a moment, which keeps the connection; otherwise the
    /// exchange ends.
    mutating func discard(at now: Instant) -> Reaction {
        guard body.discard(), stage == .running else { return Reaction() }
        guard let length = expectedLength, length - body.received <= Self.drainedBytes else {
            return end(.cancelled, at: now)
        }
        clock.drain(until: now + Self.drainTime)
        return Reaction(setsAlarm: true)
    }

    /// The same limit as in the curl transport.
    static let maximumFields = 5_000
    private static let drainedBytes = 65_536
    private static let drainTime = Duration.seconds(1)

    /// The maximum number of bytes to hold for a reader that does not come. For a caller that accepts only very small
    /// bodies, as many as are under way in any case.
    private var unreadLimit: Int { max(request.options.maximumBodyBytes, BodyFlow.highMark) }

    // MARK: The task

    /// Records that bytes of the request's body went out, so there is a connection.
    mutating func sent(totalBytes: Int, at now: Instant) {
        sentBytes = totalBytes
        clock.moved(at: now)
    }

    /// Processes a head. Interim ones only prove progress; a second final one replaces a proxy's response to CONNECT.
    mutating func received(_ newHead: HTTPResponse, at now: Instant) -> Reaction {
        guard stage == .running else { return Reaction() }
        clock.moved(at: now)
        guard newHead.status.kind != .informational else { return Reaction() }
        guard !isHeadDelivered else {
            return end(NetworkError(.invalidResponse, "a second head arrived within the response"), at: now)
        }
        let waitsForAnother = headMayBeProxys && head == nil
        do throws(NetworkError) {
            announcedLength = try newHead.headerFields.announcedLength()
            guard newHead.headerFields.count <= Self.maximumFields else {
                throw NetworkError(
                    .responseHeadTooLarge,
                    "the response has more than \(Self.maximumFields) header fields",
                    phase: .receiving
                )
            }
        } catch {
            return end(error, at: now)
        }
        firstByteAt = now
        head = newHead
        return waitsForAnother ? Reaction() : deliverHead()
    }

    /// Processes a chunk of the body.
    mutating func received(_ chunk: Data, at now: Instant) -> Reaction {
        guard stage == .running else { return Reaction() }
        clock.moved(at: now)
        var reaction = deliverHead()
        if let failure = body.arrived(chunk, unreadLimit: unreadLimit) {
            let head = reaction.head
            reaction = end(failure, at: now)
            if let head { reaction.head = head }
            return reaction
        }
        reaction.reading = body.wakeUp()
        if !body.isDiscarded { reaction.progress = (body.received, expectedLength) }
        return reaction
    }

    /// Processes the end of the response.
    /// - Parameters:
    ///   - lateHead: The task's own head. It counts if none was delivered, which happens for redirects without a usable
    ///     `Location`.
    ///   - cancelsTask: Whether the task would go on, as it does after a 401's challenge.
    mutating func finished(lateHead: HTTPResponse?, cancellingTask cancelsTask: Bool = false, at now: Instant)
        -> Reaction
    {
        guard stage == .running else { return Reaction() }
        if head != nil, !isRedirection, let length = expectedLength, body.received < length {
            let message = "the body ended after \(body.received) of \(length) bytes"
            return end(NetworkError(.truncatedBody, message), cancellingTask: cancelsTask, at: now)
        }
        head = head ?? lateHead
        guard head != nil else {
            let message = "the exchange ended without an HTTP response"
            return end(NetworkError(.invalidResponse, message), cancellingTask: cancelsTask, at: now)
        }
        return end(nil, cancellingTask: cancelsTask, at: now)
    }

    /// Processes a failure of the task, or of what it reported; only in the second case is the task still there to
    /// cancel.
    mutating func failed(_ error: NetworkError, cancellingTask: Bool, at now: Instant) -> Reaction {
        var error = error
        if head != nil, error.code == .connectionLost {
            error.code = .truncatedBody
            error.message = "the connection broke in the body"
        }
        return end(error, cancellingTask: cancellingTask, at: now)
    }

    // MARK: The clock

    /// When ``alarm(at:)`` is due next; `nil` for never.
    var nextDeadline: Instant? { stage == .ended ? nil : clock.nextDeadline }

    /// Checks the deadlines, one of which may have passed.
    mutating func alarm(at now: Instant) -> Reaction {
        guard stage != .ended else { return Reaction() }
        switch clock.verdict(at: now) {
        case .proceed: return Reaction()
        // One that is not begun has no connection; the system's table has those of other exchanges.
        case .checkConnection where stage == .created: return connectionChecked(isOpen: false, at: now)
        case .checkConnection(let due): return Reaction(checksConnection: due)
        case .fail(let error): return end(error, at: now)
        }
    }

    /// Processes the result of ``Reaction/checksConnection``.
    mutating func connectionChecked(isOpen: Bool, at now: Instant) -> Reaction {
        guard stage != .ended, let error = clock.connectionChecked(isOpen: isOpen, at: now) else { return Reaction() }
        return end(error, at: now)
    }

    // MARK: Metrics

    /// Returns the metrics so far, or in all once the exchange is over.
    func metrics(at now: Instant) -> TransportMetrics {
        var metrics = TransportMetrics(total: (endedAt ?? now) - clock.startedAt)
        metrics.firstByte = firstByteAt.map { $0 - clock.startedAt }
        metrics.requestBodyBytes = sentBytes
        metrics.responseBodyBytes = body.received
        metrics.responseWireBytes = head?.isContentEncoded ?? true ? nil : body.received
        return metrics
    }

    // MARK: The end

    private mutating func end(_ failure: NetworkError?, cancellingTask: Bool = true, at now: Instant) -> Reaction {
        guard stage != .ended else { return Reaction() }
        var failure = failure
        if let code = failure?.code, failure?.phase == nil { failure?.phase = phase(of: code) }
        var reaction = Reaction(isEnd: true, cancelsTask: cancellingTask && stage == .running)
        stage = .ended
        endedAt = now
        body.end(failure, isToldElsewhere: failure != nil && !isHeadDelivered)
        if let failure, !isHeadDelivered {
            isHeadDelivered = true
            reaction.head = .failure(failure)
        } else {
            reaction.head = deliverHead().head
            reaction.reading = body.wakeUp()
        }
        return reaction
    }

    private mutating func deliverHead() -> Reaction {
        guard let head, !isHeadDelivered else { return Reaction() }
        isHeadDelivered = true
        return Reaction(head: .success(head))
    }

    private func phase(of code: NetworkError.Code) -> NetworkError.Phase? {
        if head != nil { return .receiving }
        if clock.isConnected { return .waiting }
        return code == .connectTimeout ? .connecting : nil
    }

    // MARK: The head

    private var isRedirection: Bool { head.map { (301...308).contains($0.status.code) } ?? false }

    /// The decoded body's length in bytes, if the head has it.
    private var expectedLength: Int? {
        guard let head, request.method != .head, !head.isContentEncoded else { return nil }
        guard head.status != .noContent, head.status != .notModified else { return nil }
        // The coding frames the body then (RFC 9112 §6.3).
        guard !head.headerFields.contains(.transferEncoding) else { return nil }
        return announcedLength
    }
}

extension HTTPResponse {
    fileprivate var isContentEncoded: Bool {
        guard let encoding = headerFields[.contentEncoding] else { return false }
        return !encoding.isEmpty && encoding.lowercased() != "identity"
    }
}
