/// What one exchange took. What is not known is `nil`, never 0.
public struct TransportMetrics: Sendable, Hashable {
    /// From `send` to the end of the body.
    public var total: Duration
    /// Waiting for a connection slot, before anything was done.
    public var queued: Duration?
    /// Name lookup. On a reused connection `nil`.
    public var nameLookup: Duration?
    /// TCP, from the end of the name lookup. On a reused connection `nil`.
    public var connect: Duration?
    /// TLS handshake. In clear and on a reused connection `nil`.
    public var tls: Duration?
    /// From `send` to the first byte of the response.
    public var firstByte: Duration?
    /// Whether a kept-alive connection carried it.
    public var connectionReused: Bool?
    /// How often the transport sent the request once more by itself: on a new connection when a kept one turned out to
    /// be closed, or with the answer to a challenge. Retries and redirects of the pipeline are exchanges of their own.
    public var retries: Int?
    /// How many of ``retries`` were repeats on a new connection because a kept one ended before a response.
    public var repeats: Int?
    /// `1.0`, `1.1`, `2`, `3`.
    public var httpVersion: String?
    /// `1.2`, `1.3`. In clear `nil`.
    public var tlsVersion: String?
    /// The cipher suite, as the TLS library calls it: `TLS_AES_256_GCM_SHA384`. In clear `nil`.
    public var tlsCipher: String?
    /// The server's (or proxy's) address, `127.0.0.1:8080`.
    public var remoteAddress: String?
    /// Our own address.
    public var localAddress: String?
    /// Bytes of the request's body that were sent, after ``TransportOptions/requestCompression``.
    public var requestBodyBytes: Int?
    /// Bytes of the response's body on the wire, before decompression.
    public var responseWireBytes: Int?
    /// Bytes of the response's body after decompression.
    public var responseBodyBytes: Int?

    /// Metrics of which only the total is known.
    public init(total: Duration) { self.total = total }
}
