import Glibc

/// The time and the CPU time that the process has used so far.
struct Usage {
    let nanoseconds: UInt64
    let user: Double
    let system: Double

    static var now: Usage {
        var usage = rusage()
        getrusage(__rusage_who_t(0), &usage)  // RUSAGE_SELF, whose type differs between C libraries
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return Usage(
            nanoseconds: monotonicNanoseconds, user: seconds(usage.ru_utime), system: seconds(usage.ru_stime))
    }

    static var monotonicNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The state of the process in /proc.
enum Process {
    /// Returns a number in /proc/self/status, in KB if it is memory. (getrusage's maximum is inherited over exec.)
    static func status(_ name: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var text: [UInt8] = []
        while case let byte = getc(file), byte >= 0 { text.append(UInt8(truncatingIfNeeded: byte)) }
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    static var openSockets: Int {
        // Only as many descriptors as there can be, because each check costs a system call.
        (0..<Int32(status("FDSize"))).count { descriptor in
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    }
}

extension [UInt64] {
    /// Returns a percentile of sorted nanoseconds, in microseconds with one decimal.
    func percentile(_ share: Double) -> Double {
        guard !isEmpty else { return 0 }
        let value = self[Swift.min(Int(Double(count) * share), count - 1)]
        return Double(value / 100) / 10
    }
}
