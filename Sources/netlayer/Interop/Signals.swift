import CLibrary

enum Signals {
    /// Ignores a signal, so that its default action does not end the process before a dispatch source sees it.
    /// - Returns: Whether the signal was already ignored. `nohup` ignores SIGHUP, and a shell without job control
    ///   ignores SIGINT for background commands.
    static func ignore(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        return unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
