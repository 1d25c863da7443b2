/// The durations, sizes and connection details of one exchange. An unknown value is `nil`, never 0.
public struct TransportMetrics: Sendable, Hashable {
    /// The time from `send` to the end of the body.
    public var total: Duration
    /// The time in the queue for a connection slot, before any other step.
    public var queued: Duration?
    /// The time of the name lookup; `nil` on a reused connection.
    public var nameLookup: Duration?
    /// The time to connect over TCP, from the end of the name lookup; `nil` on a reused connection.
    public var connect: Duration?
    /// The time of the TLS handshake; `nil` without TLS and on a reused connection.
    public var tls: Duration?
    /// The time from `send` to the first byte of the response.
    public var firstByte: Duration?
    /// Whether the exchange used a kept connection.
    public var connectionReused: Bool?
    /// The number of times that the transport itself sent the request again: on a new connection because a kept one
    /// turned out to be closed, or with the credentials for a challenge. Retries and redirects of the pipeline are
    /// exchanges of their own.
    public var resends: Int?
    /// The number of ``resends`` on a new connection because a kept one ended before the response.
    public var repeats: Int?
    /// The version of HTTP: `1.0`, `1.1`, `2` or `3`.
    public var httpVersion: String?
    /// The version of TLS: `1.2` or `1.3`. `nil` without TLS.
    public var tlsVersion: String?
    /// The cipher suite, in the notation of the TLS library: `TLS_AES_256_GCM_SHA384`. `nil` without TLS.
    public var tlsCipher: String?
    /// The address and port of the server or proxy: `127.0.0.1:8080`.
    public var remoteAddress: String?
    /// The local address and port.
    public var localAddress: String?
    /// The number of bytes of the request's body that were sent, after ``TransportOptions/requestCompression``.
    public var requestBodyBytes: Int?
    /// The number of bytes of the response's body on the wire, before decompression.
    public var responseWireBytes: Int?
    /// The number of bytes of the response's body after decompression.
    public var responseBodyBytes: Int?

    /// Creates metrics of which only the total time is known.
    public init(total: Duration) { self.total = total }

    func following(rounds count: Int, repeats: Int, of time: Duration) -> TransportMetrics {
        var metrics = self
        metrics.total += time
        metrics.firstByte? += time
        metrics.resends = (resends ?? 0).addingClamped(count).addingClamped(repeats)
        if repeats > 0 { metrics.repeats = (self.repeats ?? 0).addingClamped(repeats) }
        return metrics
    }
}
