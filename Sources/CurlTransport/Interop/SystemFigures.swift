import CLibrary

/// What the system says in numbers.
enum SystemFigures {
    /// The nanoseconds of a clock.
    @inline(__always) static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// How many descriptors the process may have open; `nil` where the system does not say.
    static var maximumDescriptors: Int? {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
    }
}
