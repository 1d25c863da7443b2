import NetworkCore

/// Whether a loop has been idle for long enough to release the memory that it keeps.
struct IdleMemory {
    private static let idleTime = Duration.seconds(1)

    /// When the memory is released, unless a transfer comes before; `nil` while transfers run, and after the release.
    private(set) var deadline: MonotonicTime?
    private var isGivenBack = true

    /// Returns whether the memory is to be released now.
    mutating func isOver(at now: MonotonicTime, isIdle: Bool) -> Bool {
        guard isIdle else {
            isGivenBack = false
            deadline = nil
            return false
        }
        guard !isGivenBack else { return false }
        let due = deadline ?? now + Self.idleTime
        isGivenBack = due <= now
        deadline = isGivenBack ? nil : due
        return isGivenBack
    }

    /// Releases the buffers that no transfer uses.
    static func drop() {
        BufferMemory.shared.drop()
        CurlMemory.drop()
    }
}
