/// An item of the JSON files that the driver writes, which the contenders decode.
public struct Item: Codable, Sendable {
    /// The number of the item, from 1.
    public let id: Int
    /// Two words.
    public let name: String
    /// An email address.
    public let email: String
    /// A Boolean value.
    public let isActive: Bool
    /// A number with two decimals.
    public let balance: Double
    /// Three words.
    public let tags: [String]
}

/// The size of a posted body, and of the chunks of a streamed one, in bytes.
public let pieceBytes = 65_536
