public import HTTPTypes

extension NetworkError {
    /// The kind of an error. The set is open: a transport may define its own codes, and a later version of the library
    /// may add some, so keep a `default` in each `switch`.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The code's stable name, as logs and `netlayer --as-json` print it.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        init(_ name: StaticString) { rawValue = "\(name)" }

        /// The code's name.
        public var description: String { rawValue }
    }
}

extension NetworkError.Code {
    // MARK: Refused before anything was sent

    /// The URL is not an absolute `http` or `https` URL. The message names the place.
    public static let invalidURL = Self("invalidURL")
    /// The method is not a token ([RFC 9110 §9.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.1)).
    public static let invalidMethod = Self("invalidMethod")
    /// The name of a header field is not a token or occurs twice in different case, `Host` is given twice, a value
    /// contains a control character, or a value or all fields together are too long.
    public static let invalidHeaderField = Self("invalidHeaderField")
    /// A parameter can't be encoded. The message names its path and type.
    public static let invalidParameters = Self("invalidParameters")
    /// The value of an option is out of range, such as a negative timeout.
    public static let invalidOption = Self("invalidOption")
    /// The transport, or the libcurl that it found, does not support a part of the request. The message names the
    /// option and the transport.
    public static let unsupported = Self("unsupported")
    /// A setting in the program's environment is invalid, such as `NETWORK_TRANSPORT`.
    public static let invalidConfiguration = Self("invalidConfiguration")
    /// Too many requests wait already: 100,000 by default over curl (`maximumQueued`). Or 256 request bodies are read
    /// from an `InputStream` already.
    public static let overloaded = Self("overloaded")
    /// A file to send, or one that an option names, can't be read.
    public static let unreadableFile = Self("unreadableFile")
    /// A file can't be written. The underlying error has the reason.
    public static let unwritableFile = Self("unwritableFile")
    /// A cookie file is not in the Netscape format. The message names the line.
    public static let invalidCookieFile = Self("invalidCookieFile")

    // MARK: Ended by the program or by a timeout

    /// The dispatcher was shut down: before the request was sent in the phases ``NetworkError/Phase/preparing`` and
    /// ``NetworkError/Phase/queued``, while it ran in a later one. The server may have executed the latter.
    public static let shutDown = Self("shutDown")
    /// A request's streamed body has fewer or more bytes than its length says.
    public static let bodyLengthMismatch = Self("bodyLengthMismatch")
    /// A body can be read once, and has been read: a request's (``TransportRequest/Body/isReplayable``) by another
    /// request or by an interceptor, a response's by an earlier reader.
    public static let bodyAlreadyRead = Self("bodyAlreadyRead")

    /// The call was cancelled. A caller whose own task is cancelled receives `CancellationError` instead, which
    /// `catch NetworkError.cancelled` matches too; interceptors receive this code.
    public static let cancelled = Self("cancelled")
    /// No connection was made within ``TransportOptions/connectTimeout``.
    public static let connectTimeout = Self("connectTimeout")
    /// Nothing moved in either direction for ``TransportOptions/idleTimeout``.
    public static let idleTimeout = Self("idleTimeout")
    /// The call, or the exchange of a transport alone, did not end within ``TransportOptions/totalTimeout``.
    public static let totalTimeout = Self("totalTimeout")

    /// No byte of the response arrived within ``TransportOptions/firstByteTimeout``.
    public static let firstByteTimeout = Self("firstByteTimeout")
    /// The transfer was slower than ``TransportOptions/Rate/LowSpeed`` for too long.
    public static let lowSpeed = Self("lowSpeed")

    // MARK: The network and the peer

    /// The host name could not be resolved.
    public static let nameNotResolved = Self("nameNotResolved")
    /// No connection could be made: it was refused, the host is unreachable, or the connection ended in the TLS
    /// handshake.
    public static let connectFailed = Self("connectFailed")
    /// The name resolves to addresses that ``TransportOptions/addressPolicy`` does not allow. No connection to them was
    /// made.
    public static let addressRefused = Self("addressRefused")
    /// The connection ended before the head of the response was complete. After it, the error is ``truncatedBody``.
    public static let connectionLost = Self("connectionLost")
    /// The TLS handshake or the certificate check failed for a reason that the TLS library does not report. ``isTLS``
    /// covers this code and the more specific ones that follow.
    public static let tlsFailed = Self("tlsFailed")
    /// The server's certificate has expired.
    public static let certificateExpired = Self("certificateExpired")
    /// The server's certificate is not valid yet, or this machine's clock is wrong.
    public static let certificateNotYetValid = Self("certificateNotYetValid")
    /// The server's certificate is for other hosts.
    public static let certificateHostMismatch = Self("certificateHostMismatch")
    /// The server's certificate is signed only by itself. GnuTLS reports it as ``certificateUntrusted``.
    public static let certificateSelfSigned = Self("certificateSelfSigned")
    /// The server's certificate was issued by an authority that is not trusted.
    public static let certificateUntrusted = Self("certificateUntrusted")
    /// The server's certificate was revoked.
    public static let certificateRevoked = Self("certificateRevoked")
    /// The server's key is none of ``TransportOptions/TLS/pinnedPublicKeys``.
    public static let pinnedKeyMismatch = Self("pinnedKeyMismatch")
    /// Client and server have no version of TLS in common; see ``TransportOptions/TLS/minimumVersion``.
    public static let tlsVersionRefused = Self("tlsVersionRefused")
    /// The server requires a client certificate.
    public static let clientCertificateRequired = Self("clientCertificateRequired")
    /// The server does not accept the client certificate.
    public static let clientCertificateRefused = Self("clientCertificateRefused")
    /// ``TransportOptions/TLS/clientCertificate`` or its key can't be read, or its password is wrong.
    public static let clientCertificateUnusable = Self("clientCertificateUnusable")

    /// The proxy could not be used.
    public static let proxyFailed = Self("proxyFailed")
    /// The data that arrived is not HTTP, or contradicts itself.
    public static let invalidResponse = Self("invalidResponse")
    /// The head of the response has more than 256 KiB, 4,096 lines or 256 heads, interim ones included; or more
    /// than libcurl accepts: a line of 100 KB, and from 8.3 on some 300 KB.
    public static let responseHeadTooLarge = Self("responseHeadTooLarge")
    /// The connection ended within the body: before its announced length, its last chunk or the end of its stream
    /// (HTTP/2). Or the body ended before its Content-Encoding did.
    public static let truncatedBody = Self("truncatedBody")
    /// A body in memory is larger than ``TransportOptions/maximumBodyBytes``, which counts for a request's body that
    /// has to be collected as well, or a file is larger than ``DownloadedFile/Options/maximumBytes``.
    public static let bodyTooLarge = Self("bodyTooLarge")
    /// The body's Content-Encoding is damaged or unknown, or has more than two codings; the Transfer-Encoding has a
    /// coding besides `chunked`; or a download has a Content-Encoding that it did not request.
    public static let invalidContentEncoding = Self("invalidContentEncoding")
    /// The layer below failed for a reason that it does not report; see ``NetworkError/underlying``.
    public static let unclassified = Self("unclassified")

    /// A line of the body is longer than its limit.
    public static let lineTooLong = Self("lineTooLong")
    /// The data of a server-sent event is larger than ``ServerSentEvents/Options/maximumEventBytes``.
    public static let eventTooLarge = Self("eventTooLarge")

    // MARK: Files

    /// The file system is full, or its quota is exhausted.
    public static let diskFull = Self("diskFull")
    /// The downloaded bytes do not match ``DownloadedFile/Options/checksum``.
    public static let checksumMismatch = Self("checksumMismatch")

    // MARK: The response arrived and was rejected

    /// The response redirects more often than ``RedirectPolicy/maximumRedirects`` allows.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// A redirect must not be followed: it leads from `https` to `http`, or the caller's policy forbids it.
    public static let redirectRefused = Self("redirectRefused")

    /// The status is not an accepted one, usually 2xx; see ``NetworkError/response``.
    public static let unacceptableStatus = Self("unacceptableStatus")
    /// The Content-Type is none of the requested ones; see ``NetworkError/response``.
    public static let unacceptableContentType = Self("unacceptableContentType")
    /// The body is empty where a value was expected.
    public static let noData = Self("noData")
    /// The body is not text in the charset that its Content-Type names.
    public static let undecodableText = Self("undecodableText")
    /// The body does not match the response type; see ``NetworkError/decoding``.
    public static let decodingFailed = Self("decodingFailed")

    // MARK: Steps of NetworkResilience

    /// A circuit breaker does not send the request, because the server fails.
    public static let circuitOpen = Self("circuitOpen")
    /// An attempt has not got the head of a response in time.
    public static let attemptTimeout = Self("attemptTimeout")

    // MARK: Sets of codes

    /// The failures of the network, after which another attempt may succeed.
    package static let networkFailures: Set<Self> = [
        nameNotResolved, connectFailed, connectTimeout, proxyFailed, connectionLost, firstByteTimeout, idleTimeout,
        lowSpeed, truncatedBody,
    ]

    /// Whether the code stands for a failure of TLS.
    public var isTLS: Bool { Self.tlsCodes.contains(self) }

    private static let tlsCodes: Set<Self> = [
        tlsFailed, certificateExpired, certificateNotYetValid, certificateHostMismatch, certificateSelfSigned,
        certificateUntrusted, certificateRevoked, pinnedKeyMismatch, tlsVersionRefused, clientCertificateRequired,
        clientCertificateRefused, clientCertificateUnusable,
    ]
}

extension NetworkError {
    /// The status with which a service answers its own caller when a call to another one fails, by
    /// [RFC 9110 §15.6](https://www.rfc-editor.org/rfc/rfc9110#section-15.6): 504 for a timeout, 503 when too many
    /// requests wait or a breaker is open, 500 for a request that was refused before anything was sent, and 502 for all
    /// other failures of the other service or of the way to it.
    public var gatewayStatus: HTTPResponse.Status {
        switch code {
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .lowSpeed, .attemptTimeout:
            .gatewayTimeout
        case .overloaded, .circuitOpen, .shutDown: .serviceUnavailable
        default: phase == .preparing ? .internalServerError : .badGateway
        }
    }
}

// Errors that are thrown as they are, by a transport or a test. In a `catch`, each code is a pattern.
extension NetworkError {
    /// An error for a URL that can't be used. As a pattern, it matches any error with ``Code/invalidURL``.
    public static let invalidURL = NetworkError(.invalidURL, "the URL is not an absolute http or https URL")
    /// An error for a missing body. As a pattern, it matches any error with ``Code/noData``.
    public static let noData = NetworkError(.noData, "the response has no body")
    /// An error for a cancelled call. As a pattern, it matches any error with ``Code/cancelled``, and Swift's
    /// `CancellationError`.
    public static let cancelled = NetworkError(.cancelled, "the request was cancelled")
    /// An error for a connection that was not made in time. As a pattern, it matches any error with
    /// ``Code/connectTimeout``.
    public static let connectTimeout = NetworkError(.connectTimeout, "no connection within the connect timeout")
    /// An error for an exchange that was idle for too long. As a pattern, it matches any error with
    /// ``Code/idleTimeout``.
    public static let idleTimeout = NetworkError(.idleTimeout, "nothing moved for the idle timeout")
    /// An error for an exchange that did not end in time. As a pattern, it matches any error with
    /// ``Code/totalTimeout``.
    public static let totalTimeout = NetworkError(.totalTimeout, "the exchange was not done within the total timeout")
}
