import HTTPTypes

extension TransportResponse {
    /// The largest body that is read only to keep its connection, in bytes, and the longest time for it.
    private static let drainedBytes = 64 * 1024
    private static let drainTime = Duration.seconds(1)

    /// Ends the exchange of an answer that nobody wants: a small body is read, so that its connection is free for the
    /// next request, and a larger one is given up. The exchange must be over when this returns, though the answer is
    /// still held: the next request may wait for its slot.
    func drain() async {
        // Whatever goes wrong here concerns an answer that was given up already. A body beyond the limit is an error
        // that ends its exchange, and one that announces as much is not even begun.
        await atMost(Self.drainTime) { _ = try? await body.collect(upTo: Self.drainedBytes) }
    }

    /// Ends the exchange at once, whatever is left of its body, though the response may still be held.
    func end() async {
        // A cancelled reader ends it without waiting for a byte. What it fails with was given up already.
        let reader = Task { _ = try? await body.collect(upTo: 0) }
        reader.cancel()
        await reader.value
    }
}

/// Does something that is cancelled when its time is over, and then waited for.
func atMost(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask(operation: work)
        group.addTask { try? await Task.sleep(for: time) }
        await group.next()
        group.cancelAll()
    }
}
