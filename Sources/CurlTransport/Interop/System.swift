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

/// The process's environment, as libcurl sees it.
enum EnvironmentVariable {
    static func isSet(_ name: String) -> Bool { unsafe getenv(name) != nil }

    /// Returns the variable's value; `nil` for a variable that is unset or empty.
    static func value(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe $0[0] == 0 ? nil : String(cString: $0) }
    }
}

/// Descriptors that libcurl opened itself.
enum Descriptor {
    /// Keeps a descriptor from programs that the process starts (FD_CLOEXEC). Does nothing for a closed descriptor.
    static func closeOnExec(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
