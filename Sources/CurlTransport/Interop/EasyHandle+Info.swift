import CCurl

extension EasyHandle {
    /// Returns all data on a transfer at its end, without the connection's timings if the connection was a kept one.
    func info(hasRequestBody: Bool) -> TransferInfo {
        let newConnections = newConnections
        let isNew = newConnections > 0
        return TransferInfo(
            nameLookup: isNew ? time(CURLINFO_NAMELOOKUP_TIME_T) : nil,
            connect: isNew ? time(CURLINFO_CONNECT_TIME_T) : nil,
            tls: isNew ? time(CURLINFO_APPCONNECT_TIME_T) : nil,
            preTransfer: time(CURLINFO_PRETRANSFER_TIME_T),
            firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
            newConnections: newConnections,
            httpVersion: httpVersion,
            remote: address(CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT),
            local: address(CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT),
            requestBytes: long(CURLINFO_REQUEST_SIZE),
            // libcurl counts the framing of chunks too.
            uploadedBytes: hasRequestBody ? min(offset(CURLINFO_SIZE_UPLOAD_T), reader?.position ?? .max) : 0,
            downloadedBytes: offset(CURLINFO_SIZE_DOWNLOAD_T)
        )
    }

    /// The number of connections that were opened for the transfer.
    var newConnections: Int { long(CURLINFO_NUM_CONNECTS) }

    /// The number of bytes of requests that have gone out.
    var requestBytes: Int { long(CURLINFO_REQUEST_SIZE) }

    /// What the TLS library found wrong with the certificate; 0 for nothing.
    var verificationResult: Int { long(CURLINFO_SSL_VERIFYRESULT) }

    /// The local port of the handle's connection.
    var localPort: Int { long(CURLINFO_LOCAL_PORT) }

    /// The announced length of the body on the wire, in bytes; `nil` for an empty one too.
    var announcedBytes: Int? {
        let length = offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return length > 0 ? length : nil
    }

    /// The number of body bytes received on the wire so far.
    var downloadedBytes: Int { offset(CURLINFO_SIZE_DOWNLOAD_T) }

    /// The number of request body bytes sent so far.
    var uploadedBytes: Int { offset(CURLINFO_SIZE_UPLOAD_T) }

    private var httpVersion: String? {
        switch long(CURLINFO_HTTP_VERSION) {
        case ccurl_http_version_1_0: "1.0"
        case ccurl_http_version_1_1: "1.1"
        case 3: "2"
        case ccurl_http_version_3: "3"
        default: nil
        }
    }

    private func address(_ host: CURLINFO, _ port: CURLINFO) -> TransferInfo.Address? {
        string(host).map { TransferInfo.Address(host: $0, port: long(port)) }
    }
}
