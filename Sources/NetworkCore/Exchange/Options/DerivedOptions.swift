import Synchronization

/// Options that a step makes of those of its requests. It finds them again by the identity of what it was given, so
/// that the transport finds its plan again too.
package final class DerivedOptions: Sendable {
    private let change: @Sendable (inout TransportOptions) -> Void
    /// The latest ones. Those that a request came with are kept too, or another one could get their identity.
    private let known = Guarded<[(given: TransportOptions, made: TransportOptions)]>([])
    private static let maximum = 8

    /// - Parameter change: Changes groups of options, and those alone.
    package init(_ change: @escaping @Sendable (inout TransportOptions) -> Void) { self.change = change }

    package func apply(to options: inout TransportOptions) {
        let identity = options.groupsIdentity
        let found = known.withLock { known in
            known.first { $0.given.groupsIdentity == identity }?.made
        }
        if let found { return options.takeGroups(of: found) }
        let given = options.groupsAlone
        var made = given
        change(&made)
        let old = known.withLock { known in
            let old = known.count < Self.maximum ? nil : known.removeFirst()
            known.append((given, made))
            return old
        }
        _ = old
        options.takeGroups(of: made)
    }
}

extension TransportOptions {
    fileprivate mutating func takeGroups(of other: TransportOptions) { rare = other.rare }
}
