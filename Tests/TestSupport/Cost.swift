import CLibrary

/// How long the thread computes for a piece of work at its quickest: what other threads and processes take away is no
/// part of it.
///
/// For ratios of two kinds of work that are alike but for what a server filled them with.
package func cost(rounds: Int = 5, of work: () throws -> Void) rethrows -> Duration {
    try (0..<rounds).map { _ in
        let start = computed
        try work()
        return computed - start
    }.min() ?? .zero
}

/// How long this thread has computed.
private var computed: Duration {
    var time = timespec()
    precondition(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
