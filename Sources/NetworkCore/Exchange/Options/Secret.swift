extension TransportOptions {
    /// A text that is never printed: a password, a token, a key.
    ///
    /// Descriptions, dumps and interpolations of it, and of everything that holds it, show `<secret>`. A literal makes
    /// one.
    public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The text itself.
        public let value: String

        /// Hides a text.
        public init(_ value: String) { self.value = value }

        /// Hides a literal.
        public init(stringLiteral value: String) { self.value = value }
    }
}
