import CLibrary

/// A point on CLOCK_MONOTONIC, in nanoseconds. Changes of the system's clock do not affect it.
struct MonotonicTime: Comparable, Sendable {
    var nanoseconds: Int64

    static var now: MonotonicTime { read(CLOCK_MONOTONIC) }

    /// The CPU time of the calling thread; comparable only with other values of this kind. Takes a system call.
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

    /// Later than any other time.
    static let distantFuture = MonotonicTime(nanoseconds: .max)

    static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }

    func adding(microseconds: Int) -> MonotonicTime { adding(microseconds, of: 1_000) }
    func adding(milliseconds: Int) -> MonotonicTime { adding(milliseconds, of: 1_000_000) }

    private func adding(_ count: Int, of unit: Int64) -> MonotonicTime {
        let (span, overflows) = Int64(count).multipliedReportingOverflow(by: unit)
        return MonotonicTime(nanoseconds: overflows ? .max : nanoseconds.addingClamped(span))
    }

    /// Returns the milliseconds until `later`, rounded up, so that a wait never ends before its deadline; at least 0.
    func milliseconds(until later: MonotonicTime) -> Int32 {
        guard later > self else { return 0 }
        return Int32(clamping: (later.nanoseconds - nanoseconds - 1) / 1_000_000 + 1)
    }
}

/// A span of time that is added often; `Duration` counts in 128 bits.
struct Nanoseconds: Sendable {
    let count: Int64

    init(_ duration: Duration) { count = duration.nanoseconds }
    private init(count: Int64) { self.count = count }

    /// Returns a multiple of the span, which is short enough for it.
    func times(_ number: Int) -> Nanoseconds { Nanoseconds(count: count * Int64(number)) }

    /// Returns the given fraction of the span, at least a nanosecond.
    func part(of parts: Int64) -> Nanoseconds { Nanoseconds(count: max(1, count / parts)) }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to the 292 years that 64 bits can hold.
    fileprivate var nanoseconds: Int64 {
        // `components` traps for more seconds than 64 bits can hold.
        guard self < Self.longest else { return .max }
        guard self > .zero - Self.longest else { return .min }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    private static let longest = Duration.nanoseconds(Int64.max)
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
