internal import Foundation

/// Returns the shortest CPU time that the thread needs for a piece of work. Time taken by other threads and processes
/// does not count.
///
/// Use it to compare two kinds of work that differ only in the data from a server.
package func cost(rounds: Int = 5, of work: () throws -> Void) rethrows -> Duration {
    try (0..<rounds).map { _ in
        let start = computed
        try work()
        return computed - start
    }.min() ?? .zero
}

/// Returns whether a piece of work needs more CPU time than the limit, three times in a row.
package func costsMore(than limit: Duration, _ work: () -> Void) -> Bool {
    (0..<3).allSatisfy { _ in cost(rounds: 1, of: work) > limit }
}

/// The CPU time of this thread so far.
private var computed: Duration {
    var time = timespec()
    precondition(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
