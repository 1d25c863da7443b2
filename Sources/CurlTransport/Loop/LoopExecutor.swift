import Synchronization

/// Runs tasks on the loop's thread, between two of its rounds.
///
/// A task that awaits a response there goes on where the response arrived: no other thread is woken. The loop takes
/// jobs as it takes messages, so a job that blocks stops every transfer.
final class LoopExecutor: TaskExecutor {
    private let mailbox: Mailbox
    private let thread = Atomic(ThreadIdentity.none)

    init(mailbox: Mailbox) { self.mailbox = mailbox }

    /// For the loop's thread, before anything else: it is this executor's.
    func begin() { thread.store(ThreadIdentity.current, ordering: .relaxed) }

    /// Whether the caller is on the loop's thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == ThreadIdentity.current }

    /// Hands a job to the loop; one that comes after the loop's end goes to the threads that everybody shares.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !mailbox.post(job) { Self.runElsewhere(job) }
    }

    /// For the loop's thread: runs a job to its next `await`.
    func run(_ job: UnownedJob) { job.run(on: self) }

    /// For a job that the loop can no longer run.
    static func runElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
