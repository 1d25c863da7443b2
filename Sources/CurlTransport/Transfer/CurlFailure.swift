import NetworkCore

/// Translates libcurl's error codes into ours. See https://curl.se/libcurl/c/libcurl-errors.html.
enum CurlFailure {
    /// Returns the error of a transfer that ended with `code`.
    /// - Parameters:
    ///   - text: The contents of libcurl's error buffer.
    ///   - phase: The phase that the transfer had reached.
    ///   - isInBody: Whether the final head was complete.
    ///   - verification: The TLS library's verdict on the certificate (CURLINFO_SSL_VERIFYRESULT).
    static func error(
        _ code: CurlCode, text: String?, phase: NetworkError.Phase, isInBody: Bool, verification: Int = 0
    ) -> NetworkError {
        let (ours, message) =
            isRecordFlood(text)
            ? (.tlsFailed, "the server or the proxy sends TLS records without data, one after another")
            : tlsFault(code, text: text ?? "", verification: verification)
                .map { ($0, TLSFault.sentence(for: $0, in: text ?? "")) }
                ?? classify(code, text: text ?? "", phase: phase, isInBody: isInBody)
        return NetworkError(ours, message, phase: phase, underlying: underlying(code, text: text))
    }

    /// Returns the phase that a code belongs to, whatever libcurl's clocks say: newer versions also set the time at
    /// which the request could go out for connections that failed. `nil` if the code does not determine the phase.
    static func phase(of code: CurlCode) -> NetworkError.Phase? {
        switch code {
        case .couldNotResolveProxy, .couldNotResolveHost, .couldNotConnect, .interfaceFailed,
            .proxy, .pinnedKeyMismatch, .invalidCertificateStatus, .clientCertificateProblem,
            .clientCertificateRequired:
            .connecting
        default: isTLS(code) ? .connecting : nil
        }
    }

    /// Returns the error of a request for HTTP/3 that got no connection, which libcurl reports as a lost one; `nil` for
    /// the codes of other failures, such as a certificate's.
    /// - Parameter isAlone: Whether only QUIC was tried.
    static func noQUIC(_ code: CurlCode, text: String?, isAlone: Bool) -> NetworkError? {
        let isLoss = [.couldNotConnect, .sendError, .recvError, .http3, .quicConnectError].contains(code)
        guard isLoss, tlsFault(code, text: text ?? "", verification: 0) == nil else { return nil }
        let message =
            isAlone
            ? "no QUIC connection to the server (HTTP/3 needs UDP to its port; the server may also have refused the "
                + "handshake)"
            : "no connection to the server, neither over QUIC (HTTP/3) nor over TCP"
        return NetworkError(.connectFailed, message, phase: .connecting, underlying: underlying(code, text: text))
    }

    /// Returns the error of a connection to the proxy that was not made, which libcurl reports like one to the server.
    static func noProxy(_ code: CurlCode, text: String?) -> NetworkError {
        NetworkError(
            .proxyFailed, "no connection to the proxy", phase: .connecting, underlying: underlying(code, text: text))
    }

    /// Returns libcurl's code with its words for the transfer where they can't quote a secret, or else for the code.
    static func underlying(_ code: CurlCode, text: String?) -> NetworkError.Underlying {
        let own = text.flatMap { quotesNothing($0) ? $0 : nil }
        return NetworkError.Underlying(domain: "libcurl", code: code.rawValue, message: own ?? code.words ?? "unknown")
    }

    /// Whether a text of libcurl has neither a proxy as the environment names it, nor a URL or a field of a response.
    /// The error buffer has room for 255 bytes: a longer text has lost its end.
    private static func quotesNothing(_ text: String) -> Bool {
        text.utf8.count < 250 && !["@", "[", "://", "proxy:", "proxy syntax"].contains { text.contains($0) }
    }

    private static func classify(
        _ code: CurlCode, text: String, phase: NetworkError.Phase, isInBody: Bool
    ) -> (NetworkError.Code, String) {
        switch code {
        case .malformedURL: (.invalidURL, "libcurl does not accept the URL")
        case .badAuthoritiesFile:
            (
                .unreadableFile,
                "the certificate authorities can't be read (the system's, tls.authorities, or proxy.authorities)"
            )
        // Newer versions report an HTTP/2 connection that ends before the head like this, without a text of their own.
        case .http2 where !isInBody && (text.isEmpty || text == code.words):
            (.connectionLost, "the connection broke")
        case .http2 where text.contains("CONTINUATION"), .recvError where text.contains("CONTINUATION"):
            (.responseHeadTooLarge, "the response's head is too large")
        // The text comes from the socket, the code from the layer above.
        case .http2 where isOfSocket(text), .http3 where isOfSocket(text):
            isInBody
                ? (.truncatedBody, "the connection broke in the body") : (.connectionLost, "the connection broke")
        // That the server reset a stream of HTTP/3, or ended it within the head.
        case .http3 where text.hasPrefix("HTTP/3 stream "):
            isInBody
                ? (.truncatedBody, "the server ended the stream in the body")
                : (.connectionLost, "the server ended the stream without a response")
        // Before the request has gone out, only a proxy has sent a head.
        case .weirdServerReply where phase == .connecting,
            .badFunctionArgument where phase == .connecting && (text.isEmpty || text.contains("response header")):
            (.proxyFailed, "what the proxy sent is not HTTP")
        // The scheme was checked before; what is left is a response without a status line.
        case .unsupportedProtocol, .weirdServerReply, .http2, .http3:
            (.invalidResponse, "what the server sent is not HTTP")
        // Some versions report a damaged trailer or chunk like this.
        case .badFunctionArgument where phase == .receiving:
            (.invalidResponse, "what the server sent is not HTTP")
        case .couldNotResolveProxy: (.proxyFailed, "the proxy's name could not be resolved")
        case .recvError where text.contains("CONNECT"), .couldNotConnect where text.contains("CONNECT"):
            (.proxyFailed, "the proxy refused the tunnel")
        case .couldNotConnect where text.contains("Unsupported proxy scheme"):
            (.proxyFailed, "the proxy's scheme is none that libcurl has")
        case .couldNotConnect where text.contains("SOCKS"): (.proxyFailed, "the SOCKS proxy refused or failed")
        // SOCKS 4 and 5 get an address, which libcurl looks up itself. Only the start counts: a host is named later.
        case .proxy where text.hasPrefix("Could not resolve") || text.hasPrefix("Failed to resolve"):
            (.nameNotResolved, "the host's name could not be resolved")
        case .proxy: (.proxyFailed, "the proxy refused or failed")
        case .couldNotResolveHost: (.nameNotResolved, "the host's name could not be resolved")
        case .interfaceFailed:
            (
                .connectFailed,
                "the address or port to connect from can't be used (connection.interface, connection.localPorts)"
            )
        case .couldNotConnect: (.connectFailed, "no connection to the server")
        case .tlsConnectError: (.connectFailed, "the connection ended in the TLS handshake")
        case .timedOut where text.contains("too slow"):
            (.lowSpeed, "below the lowest allowed speed for too long (rate.lowSpeed)")
        case .timedOut: (.connectTimeout, "no connection within the connect timeout")
        case .partialFile where isInBody: (.truncatedBody, "the connection ended before the body did")
        // An HTTP/2 connection that ends before the head is reported like this.
        case .partialFile: (.connectionLost, "the server closed the connection without a response")
        case .gotNothing: (.connectionLost, "the server closed the connection without a response")
        case .badContentEncoding: (.invalidContentEncoding, "the body's Content-Encoding is damaged or unknown")
        case .writeError where text.contains("content unencoding"):
            (.invalidContentEncoding, "the body's Content-Encoding is damaged")
        // Before the request has gone out, the heads are a proxy's.
        case .recvError where phase == .connecting && text.contains("Too large response headers"),
            .tooLarge where phase == .connecting:
            (.proxyFailed, "the proxy's responses to CONNECT are too large")
        // Also for too many heads of interim responses, which libcurl adds up, and for an endless trailer.
        case .recvError where text.contains("Too large response headers") || text.contains("Out of memory"):
            (.responseHeadTooLarge, "the response's head is too large")
        // .tooLarge (8.6), also for an endless trailer, which its text calls a fault in the chunks.
        case .tooLarge: (.responseHeadTooLarge, "the response's head is too large")
        // An invalid trailer fails with the code of whatever layer found it.
        case _ where text.contains("chunked-encod"),
            .recvError where text.contains("hex") || text.contains("chunk"):
            (.invalidResponse, "the body's chunked encoding is damaged")
        // What nghttp2 refuses (-505: NGHTTP2_ERR_PROTO), and no loss of the stream.
        case .http2Stream where text.contains("Invalid HTTP header field") || text.contains("error -505"):
            (.invalidResponse, "what the server sent is not HTTP/2")
        case .recvError where isInBody: (.truncatedBody, "the connection broke in the body")
        case .http2Stream where isInBody: (.truncatedBody, "the server ended the stream in the body")
        case .sendError, .recvError, .http2Stream: (.connectionLost, "the connection broke")
        case .sendFailRewind: (.connectionLost, "the connection broke and the body can't be sent again")
        // libcurl reports a header line above 100 KB like this.
        case .outOfMemory where phase == .waiting || phase == .receiving:
            (.responseHeadTooLarge, "the response's head is too large")
        case .unknownOption, .notBuiltIn: (.unsupported, "this libcurl can't do that")
        default: (.unclassified, "libcurl failed")
        }
    }

    /// Returns whether the text is about a socket that could not be written or read.
    private static func isOfSocket(_ text: String) -> Bool {
        text.hasPrefix("Send failure: ") || text.hasPrefix("Recv failure: ")
    }

    /// Returns the TLS fault, by libcurl's code, then by the TLS library's, then by the text; `nil` for any other
    /// error.
    private static func tlsFault(_ code: CurlCode, text: String, verification: Int) -> NetworkError.Code? {
        switch code {
        case .pinnedKeyMismatch: return .pinnedKeyMismatch
        case .invalidCertificateStatus: return .certificateRevoked
        case .clientCertificateProblem: return .clientCertificateUnusable
        // libcurl 8.23 reports, among others, a key that it can't open like this.
        case .badFunctionArgument:
            return TLSFault.code(for: text) == .clientCertificateUnusable ? .clientCertificateUnusable : nil
        case .clientCertificateRequired: return .clientCertificateRequired
        case .badAuthoritiesFile: return nil
        // With TLS 1.3 the server checks our certificate when the handshake is already complete for us.
        case .recvError, .sendError:
            let fault = text.contains("alert") ? TLSFault.code(for: text) : nil
            return fault == .clientCertificateRequired || fault == .clientCertificateRefused ? fault : nil
        case .peerFailedVerification:
            return verificationFaults[verification] ?? TLSFault.code(for: text) ?? .tlsFailed
        case .tlsConnectError where TLSFault.code(for: text) == nil && TLSFault.isEndOfConnection(text): return nil
        default: return isTLS(code) ? TLSFault.code(for: text) ?? .tlsFailed : nil
        }
    }

    /// Returns whether ``TLSGuard`` ended the connection, in the handshake or after it.
    private static func isRecordFlood(_ text: String?) -> Bool { text?.contains("\(TLSGuard.words)") == true }

    /// OpenSSL's X509_V_ERR_* codes. Other libraries give no code, or 1.
    private static let verificationFaults: [Int: NetworkError.Code] = [
        2: .certificateUntrusted, 9: .certificateNotYetValid, 10: .certificateExpired, 18: .certificateSelfSigned,
        19: .certificateUntrusted, 20: .certificateUntrusted, 21: .certificateUntrusted, 23: .certificateRevoked,
        62: .certificateHostMismatch,
    ]

    /// CURLE_SSL_CLIENTCERT.
    private static let clientCertificateRequired = CurlCode(rawValue: 98)

    private static func isTLS(_ code: CurlCode) -> Bool {
        switch code {
        case .tlsConnectError, .tlsEngineNotFound, .tlsEngineSetFailed, .tlsCipher,
            .peerFailedVerification, .useTLSFailed, .tlsEngineInitFailed,
            .badAuthoritiesFile, .tlsShutdownFailed, .badRevocationFile, .tlsIssuerError:
            true
        default: false
        }
    }
}
