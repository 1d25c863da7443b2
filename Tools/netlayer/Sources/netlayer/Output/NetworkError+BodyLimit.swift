import NetworkLayer

extension NetworkError {
    /// The error for a body larger than its limit.
    static func bodyTooLarge(limit: Int) -> NetworkError {
        NetworkError(.bodyTooLarge, "the body is larger than the limit of \(limit) bytes after decompression")
    }
}
