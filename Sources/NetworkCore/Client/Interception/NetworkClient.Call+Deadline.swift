import FoundationEssentials
import HTTPTypes

extension NetworkClient.Call {
    /// The end of the attempt that the task belongs to, for a step that limits its time.
    @TaskLocal package static var attemptEnd: ContinuousClock.Instant?

    /// Returns what the caller gets for a step's error: at the deadline steps are cancelled, and the call times out; at
    /// the end of its time, the attempt does.
    package func reported(_ error: any Error) -> any Error {
        guard NetworkError.cancelled ~= error else { return error }
        if remaining == .zero { return NetworkError.totalTimeout }
        guard let end = Self.attemptEnd, end <= .now else { return error }
        return NetworkError(.attemptTimeout, "no response within the time of the attempt")
    }

    /// Checks for the deadline and for cancellation, between pieces of work that nothing interrupts and around work
    /// that can't be divided.
    func check(while phase: NetworkError.Phase) throws(NetworkError) {
        guard Task.isCancelled || deadline.map({ $0 <= .now }) ?? false else { return }
        var error = Task.isCancelled ? NetworkError.cancelled : NetworkError.totalTimeout
        error.phase = phase
        throw error
    }

    /// Runs work that must end by the call's deadline. Without a deadline, this adds nothing to the work.
    /// - Throws: ``NetworkError/Code/totalTimeout`` at the deadline, with the exchange that the work's error names; the
    ///   work has been cancelled and has ended by then. ``NetworkError/Code/cancelled`` when the task is cancelled,
    ///   however the work reports it.
    public func withinDeadline<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await within(remaining, or: .totalTimeout, work)
    }

    /// Runs work that must end by the call's deadline and within a time of its own; `nil` for none.
    package func withinDeadline<Value: Sendable>(
        and time: Duration?, or error: @autoclosure () -> NetworkError,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let time, time < remaining ?? .seconds(Int64.max) else { return try await withinDeadline(work) }
        return try await within(time, or: error(), work)
    }

    private func within<Value: Sendable>(
        _ time: Duration?, or error: @autoclosure () -> NetworkError,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            guard let time else { return try await work() }
            return try await Self.atMost(time, or: error(), work)
        } catch is CancellationError where Task.isCancelled {
            throw NetworkError.cancelled
        }
    }

    private static func atMost<Value: Sendable>(
        _ time: Duration,
        or error: @autoclosure () -> NetworkError,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let end = ContinuousClock.now + min(time, TransportOptions.maximumTimeout)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                // Ends early when the work is done and when the call's own task is cancelled.
                await SharedTimer.shared.wait(until: end)
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil {
                guard ContinuousClock.now < end else { throw error() }
                return value
            }
            let isCancelled = Task.isCancelled
            group.cancelAll()
            let outcome = await group.nextResult()
            if isCancelled, let value = try outcome?.get() ?? nil { return value }
            throw error().after(outcome)
        }
    }
}

extension NetworkError {
    /// Returns the error of a time that is over, with what the work knew of its exchange when it was cancelled.
    fileprivate func after<Value>(_ outcome: Result<Value?, any Error>?) -> NetworkError {
        guard case .failure(let failure as NetworkError)? = outcome else { return self }
        if failure.code == code { return failure }
        var error = self
        error.phase = failure.phase
        error.exchange = failure.exchange
        return error
    }
}

extension TransportResponse {
    /// Returns the response with reads of its body that end at the deadline of a call. A transport's own body keeps the
    /// total timeout itself; that of an interceptor need not.
    func ended(by call: NetworkClient.Call) -> TransportResponse {
        guard call.deadline != nil else { return self }
        var response = self
        response.body = body.withForeignSource { AroundBody($0) { read in try await call.withinDeadline(read) } }
        return response
    }
}
