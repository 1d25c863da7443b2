/// Somebody who waits for the loop, to be resumed exactly once. `ExchangeChannel` takes it out of its state under the lock
/// before it resumes it; the checked kind would allocate for each wait to find that out again.
struct Waiter<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, any Error>

    /// Waits until the waiter that `body` gets is resumed.
    static func wait(
        isolation: isolated (any Actor)? = #isolation, _ body: (Waiter) -> Void
    ) async throws -> Value {
        try await withUnsafeThrowingContinuation { body(Waiter(continuation: $0)) }
    }

    func resume(with result: Result<Value, any Error>) { continuation.resume(with: result) }
}
