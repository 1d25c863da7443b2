import Foundation
import NetworkCore

/// What arrived of a response's body and was not read, and whether somebody waits for more. Pure, like
/// ``ExchangeState``, of which it is a part.
struct BodyInbox {
    /// What a reader's call comes to.
    enum Reading {
        case done(Result<Data?, NetworkError>)
        case waits
    }

    private var flow = BodyFlow()
    private var unread = Data()
    private var failure: NetworkError?
    /// A failure is thrown once; what is read after it is the end.
    private var isFailureDelivered = false
    /// Whether somebody waits.
    private(set) var hasReader = false

    /// Bytes that arrived in all.
    var received: Int { flow.received }
    /// Bytes that were given to the reader.
    var read: Int { flow.received - flow.held }
    /// Whether nobody will read any more.
    var isDiscarded: Bool { flow.mode == .nothing }

    /// Whether there is nothing left to read but how it ended.
    var isAtEnd: Bool { isDiscarded || flow.hasEnded && flow.held == 0 }

    // MARK: The task

    /// A piece came.
    /// - Parameter unreadLimit: The most bytes to hold for a reader who does not come: the sender can't be stopped.
    /// - Returns: Why the exchange must end, if it must.
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

    /// The body is complete, or has failed.
    /// - Parameter isToldElsewhere: Whether somebody else gets the failure.
    mutating func end(_ failure: NetworkError?, isToldElsewhere: Bool) {
        self.failure = failure
        if isToldElsewhere { isFailureDelivered = true }
        flow.end()
    }

    /// What the reader who waits gets now, if there is one and something to get.
    mutating func wakeUp() -> Result<Data?, NetworkError>? {
        guard flow.roundEnded() else { return nil }
        flow.handOver()
        hasReader = false
        return take()
    }

    // MARK: The reader

    /// Asks for everything that is unread, or else waits for the next piece.
    mutating func readNext() -> Reading {
        guard !hasReader else { return .done(.failure(.bodyReadTwice)) }
        return answer(flow.read().reading)
    }

    /// Asks for the whole rest at its end.
    /// - Returns: The reading, and whether the limit is broken already.
    mutating func collect(upTo limit: Int) -> (reading: Reading, isTooLarge: Bool) {
        guard !hasReader else { return (.done(.failure(.bodyReadTwice)), false) }
        let (reading, _, isTooLarge) = flow.collect(upTo: limit)
        if isTooLarge { return (.done(.failure(.bodyTooLarge(limit: limit))), true) }
        return (answer(reading), false)
    }

    /// The reader has gone.
    /// - Returns: Whether more was to come.
    mutating func discard() -> Bool {
        unread = Data()
        isFailureDelivered = true
        return flow.discard()
    }

    private mutating func answer(_ reading: BodyFlow.Reading) -> Reading {
        switch reading {
        case .wait:
            hasReader = true
            return .waits
        case .everythingHeld, .atEnd: return .done(take())
        }
    }

    /// The unread bytes, else the failure, once, else the end. A part of what was to be collected whole is of no use.
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
    /// The error for a reader who is slower than the server.
    fileprivate static func tooMuchUnread(limit: Int) -> NetworkError {
        NetworkError(
            .bodyTooLarge,
            "the body came faster than it was read, and URLSession can't stop the server: more than \(limit) bytes were "
                + "unread (maximumBodyBytes)",
            phase: .receiving
        )
    }
}
