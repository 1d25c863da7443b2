extension TransportOptions {
    /// A text that is never printed, such as a password, a token or a key.
    ///
    /// Descriptions, dumps and interpolations of a secret, and of every value that contains one, show `<secret>`. A
    /// string literal creates a secret.
    public struct Secret: Sendable, Hashable, SafelyPrinted, ExpressibleByStringLiteral {
        /// The text itself.
        public let value: String

        /// Creates a secret from a text.
        public init(_ value: String) { self.value = value }

        /// Creates a secret from a literal.
        public init(stringLiteral value: String) { self.value = value }

        /// The text `<secret>`.
        public var description: String { "<secret>" }
    }
}
