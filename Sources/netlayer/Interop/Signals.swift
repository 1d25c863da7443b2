import CLibrary

enum Signals {
    /// Ignores a signal, so that its default action does not end the process before a dispatch source sees it.
    /// - Returns: Whether the signal was already ignored. `nohup` ignores SIGHUP, and a shell without job control
    ///   ignores SIGINT for background commands.
    static func ignore(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        return unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Runs `body`, which starts a program, with the default actions of the signals that this process ignores, and none
    /// of them blocked: a program inherits both (execve(2)), and a shell can't undo the first.
    static func withDefaults<Value>(_ body: () throws -> Value) rethrows -> Value {
        let ignored = [SIGPIPE, SIGINT, SIGTERM, SIGHUP].filter { number in
            var action = sigaction()
            guard unsafe sigaction(number, nil, &action) == 0 else { return false }
            return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
        }
        for number in ignored { signal(number, SIG_DFL) }
        // Threads of the pool block most signals.
        var (none, mask) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &mask)
        defer {
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
            for number in ignored { signal(number, SIG_IGN) }
        }
        return try body()
    }
}
