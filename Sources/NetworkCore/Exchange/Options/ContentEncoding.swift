extension TransportOptions {
    /// A compression of bodies (RFC 9110 §8.4.1).
    public enum ContentEncoding: String, Sendable, Hashable, CaseIterable {
        /// gzip (RFC 1952).
        case gzip
        /// deflate (RFC 1950).
        case deflate
        /// Brotli (RFC 7932), where libcurl brings its library.
        case brotli = "br"
        /// Zstandard (RFC 8878), where libcurl brings its library.
        case zstd

        /// What every transport decodes: gzip and deflate.
        public static let common: [ContentEncoding] = [.gzip, .deflate]

        var required: [TransportCapabilities.Capability] {
            switch self {
            case .gzip, .deflate: []
            case .brotli: [.brotli]
            case .zstd: [.zstd]
            }
        }
    }
}
