import Foundation

/// What a process has used so far.
struct ProcessFigures: Sendable {
    /// User and system time, in microseconds.
    var cpuMicroseconds = 0.0
    /// Voluntary and involuntary switches of context.
    var contextSwitches = 0
    /// The largest resident set, in KiB.
    var peakResidentKB = 0

    /// The figures of this process.
    static var own: ProcessFigures { ProcessFigures(of: __rusage_who_t(RUSAGE_SELF.rawValue)) }

    /// The figures of all processes that this one has started, and that have ended.
    static var children: ProcessFigures { ProcessFigures(of: RUSAGE_CHILDREN.rawValue) }

    private init(of whom: __rusage_who_t) {
        var usage = rusage()
        unsafe getrusage(whom, &usage)
        func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
        cpuMicroseconds = microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
        contextSwitches = usage.ru_nvcsw + usage.ru_nivcsw
        peakResidentKB = usage.ru_maxrss
    }

    /// The resident memory of this process that no file is behind, in bytes: heap and stacks; 0 where the system does
    /// not tell.
    static var memory: Int {
        // The numbers of /proc/self/statm are off by up to 64 pages for each core.
        let file = FileHandle(forReadingAtPath: "/proc/self/smaps_rollup")
        let text = (try? file?.readToEnd()).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// The number of this process's threads.
    static var threads: Int { entries(of: "/proc/self/task") }

    /// The number of this process's open descriptors.
    static var descriptors: Int { max(0, entries(of: "/proc/self/fd") - 1) }

    private static func entries(of folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
    }
}
