/// A compression of response bodies (CURLOPT_ACCEPT_ENCODING).
public enum ContentEncoding: String, Sendable, Hashable, CaseIterable {
    /// gzip (RFC 1952).
    case gzip
    /// deflate (RFC 1950).
    case deflate
    /// Brotli (RFC 7932), where libcurl was built with it (7.57).
    case brotli = "br"
    /// Zstandard (RFC 8878), where libcurl was built with it (7.72).
    case zstd

    /// What every transport decodes: gzip and deflate.
    public static let common: [ContentEncoding] = [.gzip, .deflate]

    var required: [TransportCapability] {
        switch self {
        case .gzip, .deflate: []
        case .brotli: [.brotli]
        case .zstd: [.zstd]
        }
    }
}
