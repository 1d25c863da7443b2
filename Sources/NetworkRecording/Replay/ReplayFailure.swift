/// The problems that ``ReplayTransport/checkAllUsed()`` found.
public struct ReplayFailure: Error, Sendable, CustomStringConvertible {
    /// One sentence for each request without an entry and for each entry that was not given, without queries.
    public let problems: [String]

    /// The problems, one on each line.
    public var description: String { problems.joined(separator: "\n") }
}
