/// What is decoded: one of the items of the JSON files that the driver writes.
public struct Item: Codable, Sendable {
    /// Counted from 1.
    public let id: Int
    /// Two words.
    public let name: String
    /// An address.
    public let email: String
    /// A truth value.
    public let isActive: Bool
    /// A number with two decimals.
    public let balance: Double
    /// Three words.
    public let tags: [String]
}

/// The size of a posted body, and of the pieces of a streamed one.
public let pieceBytes = 65_536
