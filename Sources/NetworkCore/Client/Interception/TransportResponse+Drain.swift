import HTTPTypes

extension TransportResponse {
    /// The limit on a body that is read only to keep its connection, in bytes, and the timeout for that read.
    private static let drainedBytes = 64 * 1024
    private static let drainTime = Duration.seconds(1)

    /// Ends the exchange of a response that is not needed. A small body is read, so that its connection is free for the
    /// next request; a larger one is abandoned. The exchange must be over when this returns, although the response is
    /// still held: the next request may wait for its slot.
    package func drain() async {
        // Errors concern only a response that is discarded. A body beyond the limit is an error that ends its exchange;
        // a body that announces such a length is not read at all.
        await atMost(Self.drainTime) { _ = try? await body.collect(upTo: Self.drainedBytes) }
        body.record.stopSending?()
    }

    /// Ends the exchange at once, however much is left of its body, even while the response is held.
    package func end() async {
        // A cancelled reader ends the exchange without waiting for a byte. It reads nothing before its cancellation,
        // since a small rest would be read to its end. Its error concerns a discarded response.
        let (cancellation, keepsOpen) = AsyncStream<Void>.makeStream()
        let reader = Task {
            for await _ in cancellation {}
            // From the source, since the body may have a reader.
            _ = try? await body.source.collect(upTo: 0)
        }
        reader.cancel()
        await reader.value
        keepsOpen.finish()
    }
}

extension TimeSource {
    /// Waits, and meanwhile frees the connection of a response that is discarded.
    func sleep(_ delay: Duration, discarding response: TransportResponse?) async throws {
        async let drained: Void? = response?.drain()
        try await sleep(delay)
        await drained
    }
}

/// Runs work that is cancelled after the time, and waits until the work has ended.
package func atMost(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask(operation: work)
        group.addTask { try? await TimeSource.system.sleep(time) }
        await group.next()
        group.cancelAll()
    }
}
