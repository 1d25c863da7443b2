extension TransportOptions {
    /// How a request's body is packed.
    public enum RequestCompression: Sendable, Hashable {
        /// Not at all.
        case none
        /// gzip (RFC 1952), from level 1, the fastest, to 9, the smallest.
        case gzip(level: Int)

        /// gzip at level 6, zlib's own balance.
        public static let gzip = RequestCompression.gzip(level: 6)

        func check() throws {
            guard case .gzip(let level) = self, !(1...9).contains(level) else { return }
            throw OptionCheck.invalid("requestCompression", "has the level \(level); it must be from 1 to 9")
        }
    }
}
