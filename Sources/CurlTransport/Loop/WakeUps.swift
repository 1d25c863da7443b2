/// The tasks to wake at the end of a round.
///
/// Each resumed task goes into the queue of the threads that run tasks, and an idle thread is woken for it. On a busy
/// core that thread runs at once, in place of the loop, finds one task, and sleeps again: two switches for each
/// response. So when there are several tasks, one task resumes them all, on a thread that is awake.
struct WakeUps {
    /// The wake-ups of tasks that run on this thread.
    private var here: [ExchangeChannel.WakeUp] = []
    private var elsewhere: [ExchangeChannel.WakeUp] = []
    /// The highest priority among the tasks elsewhere.
    private var priority: UInt8 = 0

    mutating func add(_ wakeUp: ExchangeChannel.WakeUp) {
        guard !wakeUp.isOnLoop else { return here.append(wakeUp) }
        priority = max(priority, wakeUp.priority)
        elsewhere.append(wakeUp)
    }

    /// Wakes all tasks.
    /// - Returns: Whether another thread has work now.
    mutating func run() -> Bool {
        let wakesOthers = !elsewhere.isEmpty
        if elsewhere.count == 1 {
            elsewhere[0].run()
            elsewhere.removeAll(keepingCapacity: true)
        } else if elsewhere.count > 1 {
            let batch = elsewhere
            Task.detached(priority: TaskPriority(rawValue: priority)) { for wakeUp in batch { wakeUp.run() } }
            elsewhere = []
            elsewhere.reserveCapacity(batch.count)
        }
        priority = 0
        for wakeUp in here { wakeUp.run() }
        here.removeAll(keepingCapacity: true)
        return wakesOthers
    }
}
