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
}
