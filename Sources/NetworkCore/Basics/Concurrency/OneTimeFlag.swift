import Synchronization

/// A flag that is raised once.
package final class OneTimeFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    /// - Returns: Whether this call raised it.
    package func raise() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether it was raised.
    package var isRaised: Bool { flag.load(ordering: .acquiring) }
}
