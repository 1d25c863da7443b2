import CLibrary

/// A point on CLOCK_MONOTONIC, in nanoseconds. A clock that is set back or forward does not touch it.
struct MonotonicTime: Comparable, Sendable {
    var nanoseconds: Int64

    static var now: MonotonicTime { read(CLOCK_MONOTONIC) }

    /// How long this thread has computed, to be compared with the same. It takes a system call.
    static var computing: MonotonicTime { read(CLOCK_THREAD_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> MonotonicTime {
        MonotonicTime(nanoseconds: SystemFigures.nanoseconds(of: clock))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds.addingClamped(duration.nanoseconds))
    }

    static func + (time: MonotonicTime, span: Nanoseconds) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds.addingClamped(span.count))
    }

    /// Later than anything.
    static let distantFuture = MonotonicTime(nanoseconds: .max)

    static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }

    func adding(milliseconds: Int) -> MonotonicTime {
        let (span, overflows) = Int64(milliseconds).multipliedReportingOverflow(by: 1_000_000)
        return MonotonicTime(nanoseconds: overflows ? .max : nanoseconds.addingClamped(span))
    }

    /// Milliseconds from here until `later`, rounded up, so that a wait never ends before its deadline; at least 0.
    func milliseconds(until later: MonotonicTime) -> Int32 {
        guard later > self else { return 0 }
        return Int32(clamping: (later.nanoseconds - nanoseconds - 1) / 1_000_000 + 1)
    }
}

/// A span of time that is added often: `Duration` counts in 128 bits.
struct Nanoseconds: Sendable {
    let count: Int64

    init(_ duration: Duration) { count = duration.nanoseconds }
    private init(count: Int64) { self.count = count }

    /// One of so many parts, at least a nanosecond.
    func part(of parts: Int64) -> Nanoseconds { Nanoseconds(count: max(1, count / parts)) }
}

extension Duration {
    /// Whole nanoseconds, as near as 64 bits come to it: 292 years.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (nanoseconds, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        return nanoseconds.addingClamped(attoseconds / 1_000_000_000)
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
