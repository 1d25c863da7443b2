/// The progress of a request's or a response's body.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes so far. For a resumed download, it includes the bytes from before. A transfer that starts
    /// again begins at 0.
    public var completed: Int
    /// The length of the whole body in bytes, if known.
    public var total: Int?

    /// Creates a progress value.
    public init(completed: Int, total: Int? = nil) {
        self.completed = completed
        self.total = total
    }

    /// The completed fraction, from 0 to 1; `nil` while the length is not known.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }
}

/// A closure that receives progress, as an object, so that options that contain one stay comparable.
final class ProgressHandler: Sendable, Hashable {
    let report: @Sendable (TransferProgress) -> Void

    init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

    static func == (left: ProgressHandler, right: ProgressHandler) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
