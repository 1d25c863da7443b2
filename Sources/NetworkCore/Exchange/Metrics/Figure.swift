/// A number that a part of the library reports of itself, by a name and by what tells it from others of the name.
public struct Figure: Sendable, Hashable {
    /// What the number means.
    public enum Kind: Sendable, Hashable {
        /// The value of the moment.
        case value
        /// A total since the beginning, which only grows.
        case total
    }

    /// The name, such as `networklayer.pool.waiting`.
    public var name: String
    /// What the number means.
    public var kind: Kind
    /// What tells the number from others of its name, such as `origin`: few and short, and no secret.
    public var dimensions: [String: String]
    /// The number.
    public var number: Double

    /// Creates a figure.
    public init(_ name: String, _ number: Double, _ kind: Kind = .value, by dimensions: [String: String] = [:]) {
        (self.name, self.kind, self.dimensions, self.number) = (name, kind, dimensions, number)
    }
}

/// A part of the library, or of a program, that reports its state in numbers.
public protocol ReportsFigures: Sendable {
    /// The numbers now. Their count must not grow with requests.
    var figures: [Figure] { get async }
}
