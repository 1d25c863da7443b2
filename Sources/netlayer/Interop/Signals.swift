import CLibrary

enum Signals {
    /// Takes away a signal's action, without which a dispatch source sees none.
    /// - Returns: Whether it was ignored before, as `nohup` has it for SIGHUP, and a shell without
    ///   job control for SIGINT of what runs in the background.
    static func ignore(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        return unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
