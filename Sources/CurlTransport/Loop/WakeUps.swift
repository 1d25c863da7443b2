/// Those who have something to get at the end of a round.
///
/// Each resumed task goes into the queue of the threads that run tasks, and an idle thread is woken for it. On a busy core it runs
/// at once, in place of the loop, finds one task, and sleeps again: two switches for each response. So when there are several,
/// one task resumes them all, where a thread is awake.
struct WakeUps {
    /// Whose task runs on this thread.
    private var here: [ExchangeChannel.WakeUp] = []
    private var elsewhere: [ExchangeChannel.WakeUp] = []

    mutating func add(_ wakeUp: ExchangeChannel.WakeUp) {
        if wakeUp.isOnLoop { here.append(wakeUp) } else { elsewhere.append(wakeUp) }
    }

    /// Wakes them all.
    mutating func run() {
        if elsewhere.count == 1 {
            elsewhere[0].run()
            elsewhere.removeAll(keepingCapacity: true)
        } else if elsewhere.count > 1 {
            let batch = elsewhere
            Task.detached(priority: batch.map(\.priority).max { $0.rawValue < $1.rawValue }) {
                for wakeUp in batch { wakeUp.run() }
            }
            elsewhere = []
            elsewhere.reserveCapacity(batch.count)
        }
        for wakeUp in here { wakeUp.run() }
        here.removeAll(keepingCapacity: true)
    }
}
