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
    /// `1.0`, `1.1`, `2`, `3`.
    public var httpVersion: String?
    /// The server's (or proxy's) address, `127.0.0.1:8080`.
    public var remoteAddress: String?
    /// Our own address.
    public var localAddress: String?
    /// Bytes of the request's body that were sent.
    public var requestBodyBytes: Int?
    /// Bytes of the response's body on the wire, before decompression.
    public var responseWireBytes: Int?
    /// Bytes of the response's body after decompression.
    public var responseBodyBytes: Int?

    /// Metrics of which only the total is known.
    public init(total: Duration) { self.total = total }
}
