/// Somebody who waits for the loop, to be resumed exactly once. `ExchangeChannel` takes it out of its state under the
/// lock before it resumes it; the checked kind would allocate for each wait to find that out again.
///
/// ThreadSanitizer's build has the checked kind: who is resumed before he sleeps learns of it by an atomic of the
/// runtime, which that sanitizer does not see, and the unchecked kind is inlined into code that it does see.
@safe struct Waiter<Value: Sendable>: Sendable {
    /// Whether the loop's own thread runs the task that waits.
    let isOnLoop: Bool
    /// The priority of that task, as a number: a `TaskPriority` has no fixed size, and would make the waiter costly to
    /// hand on.
    let priority: UInt8
    #if NETWORKLAYER_THREAD_SANITIZER
    private let continuation: CheckedContinuation<Value, any Error>
    #else
    private let continuation: UnsafeContinuation<Value, any Error>
    #endif

    /// Waits until the waiter that `body` gets is resumed.
    static func wait(
        isOnLoop: Bool, isolation: isolated (any Actor)? = #isolation, _ body: (Waiter) -> Void
    ) async throws -> Value {
        #if NETWORKLAYER_THREAD_SANITIZER
        try await withCheckedThrowingContinuation {
            body(Waiter(isOnLoop: isOnLoop, priority: Task.currentPriority.rawValue, continuation: $0))
        }
        #else
        try unsafe await withUnsafeThrowingContinuation {
            unsafe body(Waiter(isOnLoop: isOnLoop, priority: Task.currentPriority.rawValue, continuation: $0))
        }
        #endif
    }

    func resume(with result: Result<Value, any Error>) { unsafe continuation.resume(with: result) }
}
