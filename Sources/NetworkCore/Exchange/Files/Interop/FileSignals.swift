import CLibrary

/// The signals by which the system ends a process that writes: SIGPIPE for a pipe without a reader, and SIGXFSZ for a
/// file beyond the process's limit (write(2)).
enum FileSignals {
    /// Runs `body` with both blocked on this thread, so that a write fails with its `errno` instead. Threads of Swift's
    /// pool block them anyway; this is for functions that write on their caller's thread, which may be the main one.
    static func blocking<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        var (signals, earlier, mask) = (sigset_t(), sigset_t(), sigset_t())
        unsafe sigemptyset(&signals)
        unsafe sigpending(&earlier)
        // One that is pending already has another cause, and stays pending.
        for signal in [SIGPIPE, SIGXFSZ] where unsafe sigismember(&earlier, signal) == 0 {
            unsafe sigaddset(&signals, signal)
        }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, &mask)
        defer {
            var noTime = timespec()
            while unsafe sigtimedwait(&signals, nil, &noTime) > 0 || errno == EINTR {}
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        }
        return try body()
    }
}
