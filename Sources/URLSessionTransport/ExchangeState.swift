import Foundation
import NetworkCore

/// One exchange's bookkeeping: an event goes in, what to do comes out. Nothing here waits, locks or calls anybody.
///
/// created → running → ended, or created → ended when the cancellation comes before the start. Whatever happens after
/// the end is ignored: task callbacks still arrive for a while after a cancellation.
struct ExchangeState {
    typealias Instant = ContinuousClock.Instant

    /// What an event asks for, to be done outside the lock.
    struct Reaction {
        /// The end of the exchange. At most one event ever has one.
        var outcome: Result<TransportResponse, NetworkError>?
        /// The task is to be cancelled.
        var cancelsTask = false
        /// Whether there is a connection is to be found out and told to ``connectionChecked(isOpen:at:)``.
        var checksConnection = false
        /// What is to be told to the progress handler.
        var progress: (received: Int, expected: Int?)?
    }

    private enum Stage { case created, running, ended }

    let request: TransportRequest
    private let startedAt: Instant
    private var stage = Stage.created
    private var head: HTTPResponse?
    private var body = Data()
    private var sentBytes = 0
    private var firstByteAt: Instant?
    private var isConnected = false
    private var movedAt: Instant

    init(_ request: TransportRequest, at now: Instant) {
        self.request = request
        startedAt = now
        movedAt = now
    }

    // MARK: The caller

    /// Whether there is still something to start.
    mutating func begin() -> Bool {
        guard stage == .created else { return false }
        stage = .running
        return true
    }

    /// The caller gives up.
    mutating func cancel() -> Reaction { fail(.cancelled) }

    // MARK: The task

    /// Bytes of the request's body went out, so there is a connection.
    mutating func sent(totalBytes: Int, at now: Instant) {
        sentBytes = totalBytes
        moved(at: now)
    }

    /// A head came. Interim ones only prove that something moves; a second one takes the place of the first, which was
    /// a proxy's answer to CONNECT.
    mutating func received(_ newHead: HTTPResponse, at now: Instant) -> Reaction {
        guard stage == .running else { return Reaction() }
        moved(at: now)
        guard newHead.status.kind != .informational else { return Reaction() }
        firstByteAt = now
        head = newHead
        body = Data()
        if let length = expectedLength, length > request.options.maximumBodyBytes {
            return fail(.bodyTooLarge(limit: request.options.maximumBodyBytes))
        }
        return Reaction()
    }

    /// A part of the body came.
    mutating func received(_ chunk: Data, at now: Instant) -> Reaction {
        guard stage == .running else { return Reaction() }
        moved(at: now)
        guard chunk.count <= request.options.maximumBodyBytes - body.count else {
            return fail(.bodyTooLarge(limit: request.options.maximumBodyBytes))
        }
        body.append(chunk)
        return Reaction(progress: (body.count, expectedLength))
    }

    /// The response is complete.
    /// - Parameters:
    ///   - lateHead: The task's own head. It counts if none was delivered, which happens to redirects without a usable
    ///     `Location`.
    ///   - cancelsTask: Whether the task would go on, as it does after a 401's challenge.
    mutating func finished(lateHead: HTTPResponse?, cancellingTask cancelsTask: Bool = false, at now: Instant)
        -> Reaction
    {
        guard stage == .running else { return Reaction() }
        if head != nil, !isRedirection, let length = expectedLength, body.count < length {
            let message = "the body ended after \(body.count) of \(length) bytes"
            return fail(NetworkError(.truncatedBody, message), cancellingTask: cancelsTask)
        }
        guard let head = head ?? lateHead else {
            let message = "the exchange ended without a response that is HTTP"
            return fail(NetworkError(.invalidResponse, message), cancellingTask: cancelsTask)
        }
        stage = .ended
        var metrics = TransportMetrics(total: now - startedAt)
        metrics.firstByte = firstByteAt.map { $0 - startedAt }
        metrics.requestBodyBytes = sentBytes
        metrics.responseBodyBytes = body.count
        metrics.responseWireBytes = head.isContentEncoded ? nil : body.count
        let response = TransportResponse(head: head, body: ResponseBody(body), metrics: metrics)
        return Reaction(outcome: .success(response), cancelsTask: cancelsTask)
    }

    /// The task failed, or told what can't be used; only then it is still there to cancel.
    mutating func failed(_ error: NetworkError, cancellingTask: Bool) -> Reaction {
        var error = error
        if head != nil, error.code == .connectionLost {
            error.code = .truncatedBody
            error.message = "the connection broke in the body"
        }
        return fail(error, cancellingTask: cancellingTask)
    }

    // MARK: The clock

    /// When ``alarm(at:)`` is due next; `nil` for never.
    var nextDeadline: Instant? {
        guard stage == .running else { return nil }
        return [totalDeadline, isConnected ? nil : connectDeadline, idleDeadline].compactMap { $0 }.min()
    }

    /// A deadline may have passed.
    mutating func alarm(at now: Instant) -> Reaction {
        guard stage == .running else { return Reaction() }
        if let totalDeadline, now >= totalDeadline { return fail(.totalTimeout) }
        let isIdle = idleDeadline.map { now >= $0 } ?? false
        guard isConnected else {
            let isLate = connectDeadline.map { now >= $0 } ?? false
            return Reaction(checksConnection: isIdle || isLate)
        }
        return isIdle ? fail(.idleTimeout) : Reaction()
    }

    /// The answer to ``Reaction/checksConnection``.
    mutating func connectionChecked(isOpen: Bool, at now: Instant) -> Reaction {
        // In the meantime a sign may have come, or the end.
        guard stage == .running, !isConnected else { return Reaction() }
        if isOpen {
            isConnected = true
            return alarm(at: now)
        }
        if let connectDeadline, now >= connectDeadline { return fail(.connectTimeout) }
        // Nothing can be idle before it is connected.
        movedAt = now
        return Reaction()
    }

    private var totalDeadline: Instant? { request.options.totalTimeout.map { startedAt + $0 } }
    private var connectDeadline: Instant? { request.options.connectTimeout.map { startedAt + $0 } }
    private var idleDeadline: Instant? { request.options.idleTimeout.map { movedAt + $0 } }

    private mutating func moved(at now: Instant) {
        isConnected = true
        movedAt = now
    }

    // MARK: The end

    private mutating func fail(_ error: NetworkError, cancellingTask: Bool = true) -> Reaction {
        guard stage != .ended else { return Reaction() }
        var error = error
        if error.phase == nil { error.phase = phase(of: error.code) }
        let hasTask = stage == .running
        stage = .ended
        body = Data()
        return Reaction(outcome: .failure(error), cancelsTask: cancellingTask && hasTask)
    }

    private func phase(of code: NetworkError.Code) -> NetworkError.Phase? {
        if head != nil { return .receiving }
        if isConnected { return .waiting }
        return code == .connectTimeout ? .connecting : nil
    }

    // MARK: The head

    private var isRedirection: Bool { head.map { (301...308).contains($0.status.code) } ?? false }

    /// The decoded body's length where the head tells it.
    private var expectedLength: Int? {
        guard let head, request.method != .head, !head.isContentEncoded else { return nil }
        guard head.status != .noContent, head.status != .notModified else { return nil }
        return head.headerFields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

extension HTTPResponse {
    fileprivate var isContentEncoded: Bool {
        guard let encoding = headerFields[.contentEncoding] else { return false }
        return !encoding.isEmpty && encoding.lowercased() != "identity"
    }
}
