/// How far a body has come, in either direction.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes so far. Of a download that was resumed, those from before too. A transfer that starts again begins at
    /// 0.
    public var completed: Int
    /// The whole length, if it is known.
    public var total: Int?

    /// A progress.
    public init(completed: Int, total: Int? = nil) {
        self.completed = completed
        self.total = total
    }

    /// The part that is done, from 0 to 1; `nil` while the length is not known.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }

    /// A closure that is called with progress; options that hold one stay comparable.
    ///
    /// Two handlers are equal if they are the same object.
    public final class Handler: Sendable, Hashable {
        /// Called with each step.
        public let report: @Sendable (TransferProgress) -> Void

        /// A handler by a closure.
        public init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

        /// Whether both are the same object.
        public static func == (left: Handler, right: Handler) -> Bool { left === right }

        /// By identity.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
