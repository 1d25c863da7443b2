import Synchronization

/// A flag that is raised once.
package final class OneTimeFlag: Sendable {
    private let isRaised = Atomic(false)

    package init() {}

    /// - Returns: Whether this call raised it.
    package func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiringAndReleasing) }
}
