import NetworkCore

extension TransferInfo {
    /// Returns the transfer's metrics.
    /// - Parameters:
    ///   - queued: The wait before libcurl had the transfer.
    ///   - begun: The time from `send` until libcurl had the handle whose data this is.
    ///   - total: The time from `send` until now.
    ///   - bodyBytes: The number of body bytes from libcurl, before content decoding.
    ///   - hasRequestBody: Whether there was a body to send.
    ///   - tlsSession: The connection's TLS parameters, if known.
    ///   - sending: The record of how often the request went out.
    ///   - responded: The time from `send` until the first line of the response.
    func metrics(
        queued: Duration, begun: Duration, total: Duration, bodyBytes: Int, hasRequestBody: Bool,
        tlsSession: TLSSession?, sending: SendingRecord, responded: Duration? = nil
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
        metrics.firstByte = firstByte.map { begun + .microseconds($0) }
        // libcurl's clock begins anew with each repeat, and below 8.3 it stops when an upload begins.
        let isOwn = !hasRequestBody && metrics.firstByte != nil && sending.attempts <= 1
        if let responded, !isOwn { metrics.firstByte = responded }
        metrics.httpVersion = httpVersion
        metrics.tlsVersion = tlsSession?.version
        metrics.tlsCipher = tlsSession?.cipher
        metrics.resends = max(0, sending.attempts - 1)
        metrics.repeats = sending.repeats
        metrics.remoteAddress = remote?.text
        metrics.localAddress = local?.text
        metrics.requestBodyBytes = hasRequestBody ? uploadedBytes : nil
        metrics.responseWireBytes = downloadedBytes
        metrics.responseBodyBytes = bodyBytes
        return metrics
    }
}
