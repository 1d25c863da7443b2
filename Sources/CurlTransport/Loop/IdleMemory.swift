import NetworkCore

/// Releases kept memory once a loop has been idle for a while.
struct IdleMemory {
    private static let idleTime = Duration.seconds(1)

    /// When the memory is released, unless a transfer comes before; `nil` while transfers run, and after the release.
    private(set) var deadline: MonotonicTime?
    private var isGivenBack = true

    /// Releases the memory if it is time.
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
