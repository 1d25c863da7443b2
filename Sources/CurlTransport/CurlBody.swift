import FoundationEssentials
import HTTPTypes
import NetworkCore
import Synchronization

/// The body of a response over libcurl, from its reader's side. Releasing it before the end ends the exchange.
final class CurlBody: EndedBodySource {
    private let transfer: Transfer
    private let loop: CurlLoop
    /// Keeps the loop running while the body is read.
    private let owner: CurlNetworkDispatcher
    /// The body's length in bytes, if the head has it and the body is not compressed.
    private let announcedBytes: Int?
    /// Whether the head came before all of the request's body had gone out.
    private let wasSending: Bool
    /// `nil` for a body that is delivered as it arrives.
    private let decoder: BodyDecoder?
    /// Whether a reader is at work in the decoder, which takes more than one step.
    private let isBeingRead = Guarded(false)
    let reading = ReaderClaim()

    init(_ transfer: Transfer, head: ReceivedHead, loop: CurlLoop, owner: CurlNetworkDispatcher) {
        self.transfer = transfer
        self.loop = loop
        self.owner = owner
        decoder = head.isEncoded ? transfer.request.decoder(for: head.head) : nil
        // A 304 has the length of the body that it does not send.
        let hasBody = transfer.request.method != .head && ![204, 304].contains(head.status.code)
        announcedBytes = hasBody && !head.isEncoded ? head.contentLength : nil
        wasSending = transfer.channel.isSending
    }

    deinit { discard() }

    /// Ends the exchange, unless it has ended. The reader gets no more bytes.
    private func discard() {
        decoder?.discard()
        leave()
    }

    /// Leaves the transfer to the loop, if it has not ended. The rest of the request's body has its last second.
    private func leave() {
        guard transfer.channel.discard() else { return }
        transfer.upload?.leave()
        loop.discard(transfer)
    }

    func next() async throws -> Data? {
        guard decoder != nil else { return try await next(by: nextOnWire) }
        return try await alone { try await next(by: nextOnWire) }
    }

    /// Runs a reader's work, or refuses it while another reader's runs, whose bytes it would take.
    private func alone<Result>(_ read: () async throws -> Result) async throws -> Result {
        let isFirst = isBeingRead.withLock { isBeingRead in
            defer { isBeingRead = true }
            return !isBeingRead
        }
        guard isFirst else { throw inExchange(NetworkError.bodyReadTwice) }
        defer { isBeingRead.withLock { $0 = false } }
        return try await read()
    }

    private func next(by fetch: () async throws -> Data?) async throws -> Data? {
        try endIfOver()
        guard let decoder else { return try await fetch() }
        do {
            return try await decoder.next(check: checkTime, fetch: fetch)
        } catch {
            if let error = error as? NetworkError, [.totalTimeout, .cancelled].contains(error.code) {
                loop.cancel(transfer)
            }
            discard()
            throw inExchange(error)
        }
    }

    /// Fails a read that comes too late or in a cancelled task: a body that always has bytes to read never waits, and
    /// would miss both.
    private func endIfOver() throws {
        do {
            try checkTime()
        } catch {
            guard !(decoder?.hasEnded ?? transfer.channel.isAtEnd) else { return }
            loop.cancel(transfer)
            discard()
            throw inExchange(error)
        }
    }

    private func checkTime() throws {
        if Task.isCancelled { throw NetworkError.cancelled }
        // For what the loop does not see: decoding, and a reader that comes late.
        if let deadline = transfer.deadline, deadline <= .now {
            throw NetworkError.totalTimeout(of: transfer.request, phase: .receiving)
        }
    }

    private func nextOnWire() async throws -> Data? {
        try await read { channel, continuation in channel.read(continuation) }
    }

    func collect(upTo limit: Int?) async throws -> Data {
        try endIfOver()
        let limit = limit ?? transfer.request.options.maximumBodyBytes
        if let announcedBytes, announcedBytes - transfer.channel.deliveredBytes > limit {
            discard()
            throw inExchange(NetworkError.bodyTooLarge(limit: limit))
        }
        if decoder != nil {
            return try await alone { try await collectPieces(upTo: limit) }
        }
        let body = try await read { channel, continuation in
            let (reading, resumesSender, isTooLarge) = channel.collect(upTo: limit, continuation)
            if isTooLarge { discard() }
            return (reading, resumesSender)
        }
        return body ?? Data()
    }

    private func collectPieces(upTo limit: Int) async throws -> Data {
        var body = BodyBuffer()
        while let piece = try await next(by: nextOnWire) {
            guard body.count + piece.count <= limit else {
                discard()
                throw inExchange(NetworkError.bodyTooLarge(limit: limit))
            }
            guard body.append(piece) else {
                discard()
                throw inExchange(NetworkError.noMemoryForBody)
            }
        }
        return body.take()
    }

    /// Reads at once if possible, else waits; cancelling the task then ends the exchange.
    nonisolated(nonsending) private func read(
        _ attempt: @Sendable (ExchangeChannel, ExchangeChannel.ReaderContinuation?) -> (ExchangeChannel.Reading, Bool)
    ) async throws -> Data? {
        do {
            let (reading, resumesSender) = attempt(transfer.channel, nil)
            if resumesSender { loop.resume(transfer) }
            if case .done(let result) = reading { return try result.get() }
            return try await withTaskCancellationHandler {
                try await Waiter.wait(isOnLoop: loop.executor.isCurrent) { continuation in
                    let (reading, resumesSender) = attempt(transfer.channel, continuation)
                    if resumesSender { loop.resume(transfer) }
                    if case .done(let result) = reading { continuation.resume(with: result) }
                }
            } onCancel: {
                loop.cancel(transfer)
            }
        } catch {
            throw inExchange(error)
        }
    }

    private func inExchange(_ error: any Error) -> any Error {
        guard let error = error as? NetworkError else { return error }
        return error.during(transfer.request, transport: "curl", elapsed: transfer.elapsed)
    }

    var stopSending: (@Sendable () -> Void)? {
        guard wasSending, transfer.upload != nil else { return nil }
        return { [loop, transfer] in loop.cancel(transfer) }
    }

    var metrics: TransportMetrics {
        var metrics = TransportMetrics(total: transfer.elapsed)
        if let end = transfer.channel.end { metrics = end.metrics }
        metrics.responseBodyBytes = decoder?.produced ?? transfer.channel.receivedBytes
        return metrics
    }

    var unreadMetrics: (any UnreadMetrics)? { decoder == nil ? transfer.channel.end : nil }

    var trailers: HTTPFields? {
        guard let end = transfer.channel.end else { return nil }
        return ResponseHeadParser.parseTrailers(end.trailerBytes)
    }
}
