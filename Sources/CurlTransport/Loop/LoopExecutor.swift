import Synchronization

/// Runs tasks on the loop's thread, between two of its rounds.
///
/// A task that awaits a response there continues where the response arrived, without waking another thread. The loop
/// takes jobs as it takes messages, so a job that blocks stops every transfer.
final class LoopExecutor: TaskExecutor {
    private let mailbox: Mailbox
    private let thread = Atomic(ThreadIdentity.none)

    init(mailbox: Mailbox) { self.mailbox = mailbox }

    /// Marks the calling thread as the loop's. The loop's thread calls it before anything else.
    func begin() { thread.store(ThreadIdentity.current, ordering: .relaxed) }

    /// Whether the caller is on the loop's thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == ThreadIdentity.current }

    /// Hands a job to the loop. A job that comes after the loop's end runs on the global executor.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !mailbox.post(job) { Self.runElsewhere(job) }
    }

    /// Runs a job to its next `await`. Only for the loop's thread.
    func run(_ job: UnownedJob) { job.run(on: self) }

    /// Runs a job that the loop can no longer run on the global executor.
    static func runElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
