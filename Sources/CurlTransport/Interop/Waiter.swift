/// A task that waits for the loop, to be resumed exactly once. `ExchangeChannel` takes it out of its state under the
/// lock before it resumes it; a checked continuation would allocate for each wait to verify that again.
///
/// ThreadSanitizer's build has the checked kind: a task that is resumed before it suspends learns of it through an
/// atomic of the runtime, which that sanitizer does not see, and the unchecked kind is inlined into code that it does
/// see.
@safe struct Waiter<Value: Sendable>: Sendable {
    /// Whether the loop's own thread runs the waiting task.
    let isOnLoop: Bool
    /// The priority of that task, as a number: a `TaskPriority` has no fixed size and would make the waiter costly to
    /// pass on.
    let priority: UInt8
    #if NETWORKLAYER_THREAD_SANITIZER
    private let continuation: CheckedContinuation<Value, any Error>
    #else
    private let continuation: UnsafeContinuation<Value, any Error>
    #endif

    /// Waits until the waiter that `body` receives is resumed.
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

extension UnownedJob {
    /// Runs the job to its next `await` on the calling thread, which is the executor's.
    func run(on executor: some TaskExecutor) { unsafe runSynchronously(on: executor.asUnownedTaskExecutor()) }
}
