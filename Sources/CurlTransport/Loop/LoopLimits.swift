/// The limits of a dispatcher's loops.
struct LoopLimits: Sendable {
    /// The maximum number of transfers that run at once to one origin.
    var perOrigin = 128
    /// The maximum number of transfers that run at once, and of connections, in the loops that share the origins.
    var inAll = standardInAll
    /// The maximum number of transfers that wait, in each loop.
    var waiting = 100_000
    /// The number of loops, each with a thread.
    var loops = 1
    /// Whether the threads are scheduled in batches (SCHED_BATCH).
    var runInBatches = false
    /// Whether no certificate is checked.
    var trustsAnyServer = false

    /// The maximum number of pools of a loop. Each takes two descriptors besides its connections.
    var pools: Int { min(max(inAll / 8, 4), 256) }

    /// The limits of one of the loops.
    var ofOneLoop: LoopLimits {
        var limits = self
        limits.inAll = max(1, inAll / loops)
        return limits
    }

    /// Three quarters of the process's descriptors (RLIMIT_NOFILE), at most 8,192.
    static var standardInAll: Int { max(1, min(8192, (SystemFigures.maximumDescriptors ?? 1024) / 4 * 3)) }
}
