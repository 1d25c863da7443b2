/// Where a transfer is between its arrival at the loop and its end. Pure: the loop reports what happens, and the stage
/// says what may happen next. `Loop/TransferLife+Admission.swift` has the events that ``Admission`` counts.
enum TransferLife: Equatable {
    /// Not with the loop: the transfer has not arrived yet, or has ended.
    case outside
    /// In the queue.
    case waiting
    /// Past the queue: ``Admission`` counts the transfer as running until its end, and as a lookup while `isLookingUp`.
    case admitted(Stage, isLookingUp: Bool)

    enum Stage: Equatable {
        /// Not in libcurl.
        case ready
        /// In libcurl. `again` says how the transfer begins again once libcurl reports this run as done.
        case running(again: Again?)
        /// In libcurl until the lookup of its name ends, although its caller has its result.
        case lingering
    }

    /// How a transfer begins again.
    enum Again: Equatable {
        /// At once, over a new connection: the one that libcurl chose can't be used, or the server has refused the
        /// request's `Expect`.
        case overNewConnection
        /// In its turn, from the queue: its name needs a lookup after all.
        case fromTheQueue
    }

    var isReady: Bool { if case .admitted(.ready, _) = self { true } else { false } }

    var isLookingUp: Bool { if case .admitted(_, isLookingUp: true) = self { true } else { false } }

    var isLingering: Bool { if case .admitted(.lingering, _) = self { true } else { false } }

    var isInLibcurl: Bool {
        switch self {
        case .outside, .waiting, .admitted(.ready, _): false
        case .admitted(.running, _), .admitted(.lingering, _): true
        }
    }

    /// How the transfer begins again after this run; `nil` if it ends.
    var again: Again? { if case .admitted(.running(let again), _) = self { again } else { nil } }

    /// Records that the transfer is in libcurl.
    mutating func begin() {
        guard case .admitted(.ready, let isLookingUp) = self else { return assertionFailure("begins while \(self)") }
        self = .admitted(.running(again: nil), isLookingUp: isLookingUp)
    }

    /// Records that the transfer has left libcurl, to begin again.
    mutating func leaveLibcurl() {
        guard case .admitted(.running, let isLookingUp) = self else { return assertionFailure("leaves while \(self)") }
        self = .admitted(.ready, isLookingUp: isLookingUp)
    }

    /// Lets the transfer begin again after this run, unless its caller has its result.
    mutating func beginAgain(_ again: Again) {
        guard case .admitted(.running, let isLookingUp) = self else { return }
        self = .admitted(.running(again: again), isLookingUp: isLookingUp)
    }
}
