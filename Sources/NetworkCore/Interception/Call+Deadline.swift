extension Call {
    /// To be asked between pieces of work that nothing interrupts, and around what can't be done in pieces.
    /// - Throws: ``NetworkError/Code/totalTimeout`` after the deadline, ``NetworkError/Code/cancelled`` in a cancelled
    ///   task.
    func check(while phase: NetworkError.Phase) throws(NetworkError) {
        guard Task.isCancelled || deadline.map({ $0 <= .now }) ?? false else { return }
        var error = Task.isCancelled ? NetworkError.cancelled : NetworkError.totalTimeout
        error.phase = phase
        throw error
    }

    /// Does something that must be over when the call is.
    /// - Throws: ``NetworkError/Code/totalTimeout`` at the deadline; the work is cancelled then, and waited for.
    ///   ``NetworkError/Code/cancelled`` when the task is, whichever way the work says it.
    func withinDeadline<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        do {
            guard let remaining else { return try await work() }
            return try await withThrowingTaskGroup(of: Value.self) { group in
                group.addTask(operation: work)
                group.addTask {
                    try await Task.sleep(for: min(remaining, TransportOptions.maximumTimeout))
                    throw NetworkError.totalTimeout
                }
                defer { group.cancelAll() }
                guard let value = try await group.next() else { throw NetworkError.cancelled }
                return value
            }
        } catch is CancellationError where Task.isCancelled {
            throw NetworkError.cancelled
        }
    }
}
