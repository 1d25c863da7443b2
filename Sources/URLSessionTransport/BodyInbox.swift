import Foundation
import NetworkCore

/// The part of a response's body that has arrived and was not read, and whether a reader waits for more. Pure, like
/// ``ExchangeState``, of which it is a part.
struct BodyInbox {
    /// The outcome of a reader's call.
    enum Reading {
        case done(Result<Data?, NetworkError>)
        case waits
    }

    private var flow = BodyFlow()
    private var unread = Data()
    private var failure: NetworkError?
    /// A failure is thrown once; further reads return the end.
    private var isFailureDelivered = false
    /// Whether a reader waits.
    private(set) var hasReader = false

    /// The number of bytes that have arrived in all.
    var received: Int { flow.received }
    /// The number of bytes that the reader has received.
    var read: Int { flow.received - flow.held }
    /// Whether the body will not be read any more.
    var isDiscarded: Bool { flow.mode == .nothing }

    /// Whether nothing is left to read except how the exchange ended.
    var isAtEnd: Bool { isDiscarded || flow.hasEnded && flow.held == 0 }

    // MARK: The task

    /// Adds a chunk.
    /// - Parameter unreadLimit: The maximum number of bytes to hold for a reader that does not come: the sender can't
    ///   be stopped.
    /// - Returns: Why the exchange must end, or `nil`.
    mutating func arrived(_ chunk: Data, unreadLimit: Int) -> NetworkError? {
        let isStreamed = flow.mode == .chunks
        switch flow.arrived(chunk.count, whenFull: .fail(limit: unreadLimit)) {
        case .drop: return nil
        case .tooLarge(let limit): return isStreamed ? .tooMuchUnread(limit: limit) : .bodyTooLarge(limit: limit)
        case .take, .pause:
            if unread.isEmpty { unread = chunk } else { unread.append(chunk) }
            return nil
        }
    }

    /// Ends the body, with or without a failure.
    /// - Parameter isToldElsewhere: Whether the failure is delivered elsewhere.
    mutating func end(_ failure: NetworkError?, isToldElsewhere: Bool) {
        self.failure = failure
        if isToldElsewhere { isFailureDelivered = true }
        flow.end()
    }

    /// Returns what the waiting reader gets now; `nil` if no reader waits or there is nothing to deliver.
    mutating func wakeUp() -> Result<Data?, NetworkError>? {
        guard flow.roundEnded() else { return nil }
        flow.handOver()
        hasReader = false
        return take()
    }

    // MARK: The reader

    /// Returns all unread bytes, or else waits for the next chunk.
    mutating func readNext() -> Reading {
        guard !hasReader else { return .done(.failure(.bodyReadTwice)) }
        return deliver(flow.read().reading)
    }

    /// Waits for the end and returns the whole rest.
    /// - Returns: The reading, and whether the limit is exceeded already.
    mutating func collect(upTo limit: Int) -> (reading: Reading, isTooLarge: Bool) {
        guard !hasReader else { return (.done(.failure(.bodyReadTwice)), false) }
        let (reading, _, isTooLarge) = flow.collect(upTo: limit)
        if isTooLarge { return (.done(.failure(.bodyTooLarge(limit: limit))), true) }
        return (deliver(reading), false)
    }

    /// Discards the body: its reader is gone.
    /// - Returns: Whether more was to come.
    mutating func discard() -> Bool {
        unread = Data()
        isFailureDelivered = true
        return flow.discard()
    }

    private mutating func deliver(_ reading: BodyFlow.Reading) -> Reading {
        switch reading {
        case .wait:
            hasReader = true
            return .waits
        case .everythingHeld, .atEnd: return .done(take())
        }
    }

    /// Returns the unread bytes, else the failure (once), else the end. If the whole body was to be collected, a
    /// failure discards the part that has arrived.
    private mutating func take() -> Result<Data?, NetworkError> {
        if failure != nil, flow.mode != .chunks { unread = Data() }
        if let failure, unread.isEmpty {
            if isFailureDelivered { return .success(nil) }
            isFailureDelivered = true
            return .failure(failure)
        }
        defer { unread = Data() }
        return .success(unread.isEmpty ? nil : unread)
    }
}

extension NetworkError {
    /// The error for a reader that is slower than the server.
    fileprivate static func tooMuchUnread(limit: Int) -> NetworkError {
        NetworkError(
            .bodyTooLarge,
            "the body came faster than it was read, and URLSession can't stop the server: more than \(limit) bytes "
                + "were unread (maximumBodyBytes)",
            phase: .receiving
        )
    }
}
