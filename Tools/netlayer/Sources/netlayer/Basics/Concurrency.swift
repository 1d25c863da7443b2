import Foundation

/// A value behind a lock that ThreadSanitizer understands; the standard library's is none for it.
///
/// @unchecked: the value is accessed only under the lock.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) { self.value = value }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// A flag that can be raised once and never lowered.
final class OneTimeFlag: Sendable {
    private let flag = Guarded(false)

    /// Raises the flag.
    /// - Returns: Whether this call raised it; `false` if it was raised before.
    func raise() -> Bool {
        flag.withLock { isRaised in
            defer { isRaised = true }
            return !isRaised
        }
    }

    var isRaised: Bool { flag.withLock { $0 } }
}

/// Runs work that is cancelled after the time, and waits until the work has ended.
func atMost(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask(operation: work)
        group.addTask { try? await Task.sleep(for: time) }
        await group.next()
        group.cancelAll()
    }
}
