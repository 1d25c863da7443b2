import Foundation

/// What a process has used so far.
struct ProcessFigures: Sendable {
    /// User and system time, in microseconds.
    var cpuMicroseconds = 0.0
    /// Voluntary and involuntary switches of context.
    var contextSwitches = 0
    /// The largest resident set, in KiB.
    var peakResidentKB = 0

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

    static var threads: Int { entries(of: "/proc/self/task") }

    static var descriptors: Int { max(0, entries(of: "/proc/self/fd") - 1) }

    private static func entries(of folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
    }
}

/// How a child process ended.
struct ChildEnd: Sendable {
    /// The exit status, or the number of the signal.
    var status: Int32
    var isBySignal: Bool

    /// The number of the signal that ended it, or that a shell reports of its own child: 128 and the number (POSIX,
    /// Shell Command Language, 2.8.2). `nil` for an exit.
    var signal: Int32? { isBySignal ? status : (129...192).contains(status) ? status - 128 : nil }

    /// Waits for the end of a child process without reaping the process. Foundation reports the end only after the
    /// processes that the child has started have ended, too.
    /// - Returns: `nil` if Foundation has waited for the child already, and knows how it ended.
    static func wait(for child: pid_t) async -> ChildEnd? {
        await withCheckedContinuation { ended in
            let thread = Thread {
                var information = unsafe siginfo_t()
                var result: Int32
                repeat {
                    result = unsafe waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT)
                } while result != 0 && errno == EINTR
                guard result == 0 else { return ended.resume(returning: nil) }
                ended.resume(
                    returning: ChildEnd(
                        status: unsafe information._sifields._sigchld.si_status,
                        isBySignal: unsafe information.si_code != Int32(CLD_EXITED)))
            }
            thread.name = "netlayer child"
            thread.start()
        }
    }
}
