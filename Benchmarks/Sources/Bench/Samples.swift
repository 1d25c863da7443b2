/// What is decoded: one of the items of the JSON files that the driver writes.
public struct Item: Codable, Sendable {
    public let id: Int
    public let name: String
    public let email: String
    public let isActive: Bool
    public let balance: Double
    public let tags: [String]
}

/// The size of a posted body, and of the pieces of a streamed one.
public let pieceBytes = 65_536
