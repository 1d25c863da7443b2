import Synchronization

/// A flag that can be raised once and never lowered.
package final class OneTimeFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    /// Raises the flag.
    /// - Returns: Whether this call raised it; `false` if it was raised before.
    package func raise() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether the flag has been raised.
    package var isRaised: Bool { flag.load(ordering: .acquiring) }
}
