import Foundation
import NetworkCore

/// How a child process ended.
struct ChildEnd: Sendable {
    /// The exit status, or the number of the signal.
    var status: Int32
    var isBySignal: Bool

    /// The number of the signal that ended it, or that a shell tells of its own child: 128 and the number (POSIX,
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
