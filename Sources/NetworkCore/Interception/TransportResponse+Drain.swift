import HTTPTypes

extension TransportResponse {
    /// The largest body that is read only to keep its connection, in bytes, and the longest time for it.
    private static let drainedBytes = 64 * 1024
    private static let drainTime = Duration.seconds(1)

    /// Reads the body of an answer that nobody wants, if it is small, so that its connection is free for the next request.
    func drain() async {
        let length = Result { try head.headerFields.announcedLength() }
        guard case .success(let bytes) = length, (bytes ?? 0) <= Self.drainedBytes else { return }
        // Whatever goes wrong here concerns an answer that was given up already.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await body.collect(upTo: Self.drainedBytes) }
            group.addTask { try? await Task.sleep(for: Self.drainTime) }
            await group.next()
            group.cancelAll()
        }
    }
}
