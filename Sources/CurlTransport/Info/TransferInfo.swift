import NetworkCore

/// libcurl's data on a transfer, as typed values.
struct TransferInfo: Sendable {
    /// The times from the start of the transfer to the end of each step, in microseconds; `nil` for a step that did not
    /// happen.
    var nameLookup: Int?
    var connect: Int?
    var tls: Int?
    var preTransfer: Int?
    var firstByte: Int?
    var newConnections: Int
    var httpVersion: String?
    var remote: Address?
    var local: Address?
    /// The size of the heads of all requests that went out, in bytes.
    var requestBytes: Int
    var uploadedBytes: Int
    var downloadedBytes: Int

    /// One end of the connection.
    struct Address: Sendable {
        let host: String
        let port: Int

        var text: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// Returns the phase that the transfer has reached.
    /// - Parameter hasResponse: Whether a byte of the response has arrived. libcurl's own mark is not enough: an upload
    ///   sets it too.
    func phase(hasResponse: Bool) -> NetworkError.Phase {
        if hasResponse { return .receiving }
        return preTransfer == nil ? .connecting : .waiting
    }

    /// Returns the transfer's metrics.
    /// - Parameters:
    ///   - queued: The wait before libcurl had the transfer.
    ///   - total: The time from `send` until now.
    ///   - bodyBytes: The number of body bytes from libcurl, before content decoding.
    ///   - hasRequestBody: Whether there was a body to send.
    ///   - tlsSession: The connection's TLS parameters, if known.
    ///   - sending: The record of how often the request went out; `nil` where libcurl can't count it.
    func metrics(
        queued: Duration, total: Duration, bodyBytes: Int, hasRequestBody: Bool, tlsSession: TLSSession?,
        sending: SendingRecord?
    ) -> TransportMetrics {
        var metrics = TransportMetrics(total: total)
        metrics.queued = queued
        let isReused = newConnections == 0
        metrics.connectionReused = isReused
        if !isReused {
            metrics.nameLookup = nameLookup.map { .microseconds($0) }
            metrics.connect = connect.map { .microseconds(max(0, $0 - (nameLookup ?? 0))) }
            metrics.tls = tls.map { .microseconds(max(0, $0 - (connect ?? 0))) }
        }
        metrics.firstByte = firstByte.map { queued + .microseconds($0) }
        metrics.httpVersion = httpVersion
        metrics.tlsVersion = tlsSession?.version
        metrics.tlsCipher = tlsSession?.cipher
        metrics.retries = sending.map { max(0, $0.attempts - 1) }
        metrics.repeats = sending?.repeats
        metrics.remoteAddress = remote?.text
        metrics.localAddress = local?.text
        metrics.requestBodyBytes = hasRequestBody ? uploadedBytes : nil
        metrics.responseWireBytes = downloadedBytes
        metrics.responseBodyBytes = bodyBytes
        return metrics
    }
}
