import CLibrary

/// Numbers from the system.
enum SystemFigures {
    /// Returns a clock's time in nanoseconds.
    @inline(__always) static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The maximum number of descriptors that the process may have open; `nil` if the system does not say.
    static var maximumDescriptors: Int? {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
    }
}
