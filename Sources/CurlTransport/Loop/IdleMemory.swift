import NetworkCore

/// Gives kept memory back once a loop has had nothing to do for a while.
struct IdleMemory {
    private static let idleTime = Duration.seconds(1)

    /// When it is given back, unless a transfer comes before; `nil` while transfers run, and once it was.
    private(set) var deadline: MonotonicTime?
    private var isGivenBack = true

    /// Looks whether it is time.
    mutating func look(at now: MonotonicTime, isIdle: Bool) {
        guard isIdle else {
            isGivenBack = false
            deadline = nil
            return
        }
        guard !isGivenBack else { return }
        let due = deadline ?? now + Self.idleTime
        isGivenBack = due <= now
        deadline = isGivenBack ? nil : due
        if isGivenBack {
            BufferMemory.shared.drop()
            CurlMemory.drop()
        }
    }
}
