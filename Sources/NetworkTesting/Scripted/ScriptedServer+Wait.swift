public import NetworkCore

extension ScriptedServer {
    /// What has happened up to one moment. Each number only grows.
    public struct Progress: Sendable, SafelyPrinted {
        /// The requests received until then, in the order in which the server read them.
        public internal(set) var requests: [ReceivedRequest] = []
        /// The number of connections accepted until then.
        public internal(set) var connectionCount = 0
        /// The number of connections that had ended, no matter which side ended them.
        public internal(set) var endedConnectionCount = 0
        /// The number of connections that the client had ended while a script was reading or sending.
        public internal(set) var connectionsEndedByPeer = 0

        /// The numbers, and the last requests without their queries.
        public var description: String {
            let lines = requests.suffix(3).map { "\(Redaction.visible($0.method)) \(Redaction().url($0.target))" }
            return "\(requests.count) requests\(lines.isEmpty ? "" : " (last: \(lines.joined(separator: ", ")))"), "
                + "\(connectionCount) connections, of which \(endedConnectionCount) have ended, "
                + "\(connectionsEndedByPeer) by the client"
        }
    }

    /// A condition that did not come true in time, with what had happened.
    public struct UnmetCondition: Error, SafelyPrinted {
        /// The place of the wait, the time that it took, and the server's progress at its start and at its end.
        public let description: String
    }

    /// A day: a clock's time has an end.
    private static let longestWait = Duration.seconds(86_400)

    /// Waits until a condition holds, such as a number of requests or an ended connection.
    /// - Parameters:
    ///   - limit: The time after which the wait fails, a day at most. Default: 30 s, below the shortest time limit of a
    ///     test.
    ///   - file: The file that the error names. Default: the caller's.
    ///   - line: The line that the error names. Default: the caller's.
    ///   - condition: The condition, evaluated on the progress at the start and after each change, none left out. What
    ///     has happened before the wait may have passed a number: compare with `>=` where more may come.
    /// - Throws: ``UnmetCondition`` after the limit, `CancellationError` if the task is cancelled first.
    public nonisolated(nonsending) func wait(
        atMost limit: Duration = .seconds(30), file: StaticString = #fileID, line: UInt = #line,
        until condition: (Progress) -> Bool
    ) async throws {
        let (stream, continuation) = AsyncStream<Progress>.makeStream()
        let start = ContinuousClock.now
        let (key, first) = log.watch { continuation.yield($0) }
        defer { log.unwatch(key) }
        if condition(first) { return }
        let end = Task {
            try await Task.sleep(for: min(limit, Self.longestWait))
            continuation.finish()
        }
        defer { end.cancel() }
        for await progress in stream where condition(progress) { return }
        try Task.checkCancellation()
        throw UnmetCondition(
            description: "the wait at \(file):\(line) ended after \((ContinuousClock.now - start).shortText); at its "
                + "start: \(first); now: \(log.snapshot.progress)")
    }
}
