extension TransportOptions {
    /// The compression of a request's body.
    public enum RequestCompression: Sendable, Hashable {
        /// No compression.
        case none
        /// gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)), at a level from 1 (fastest) to 9 (smallest).
        case gzip(level: Int)

        /// gzip at level 6, zlib's default compromise between speed and size.
        public static let gzip = RequestCompression.gzip(level: 6)

        func check() throws {
            guard case .gzip(let level) = self, !(1...9).contains(level) else { return }
            throw OptionCheck.invalid("requestCompression", "has the level \(level); it must be from 1 to 9")
        }
    }
}
