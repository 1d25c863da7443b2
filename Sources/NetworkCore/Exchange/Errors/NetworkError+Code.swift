extension NetworkError {
    /// What went wrong. Open: a transport may add its own, and a later version may add some, so keep a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        /// The code's stable name, as logs and `netlayer --json` print it.
        public let rawValue: String

        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        init(_ name: StaticString) { rawValue = "\(name)" }
    }
}

extension NetworkError.Code {
    // MARK: Refused before anything was sent

    /// The URL is not an absolute http or https URL; the message says where.
    public static let invalidURL = Self("invalidURL")
    /// The method is not a token (RFC 9110 §9.1).
    public static let invalidMethod = Self("invalidMethod")
    /// A header field's name is not a token, or its value holds CR, LF or NUL.
    public static let invalidHeader = Self("invalidHeader")
    /// A parameter can't be encoded; the message names its path and type.
    public static let invalidParameters = Self("invalidParameters")
    /// An option's value is out of range, a negative timeout for example.
    public static let invalidOption = Self("invalidOption")
    /// This transport, or the libcurl found, can't do what was asked; the message names option and transport.
    public static let unsupported = Self("unsupported")
    /// A setting of the program's environment can't be used, `NETWORK_TRANSPORT` for example.
    public static let invalidConfiguration = Self("invalidConfiguration")
    /// Too many requests wait already.
    public static let overloaded = Self("overloaded")
    /// A file to send can't be read.
    public static let unreadableFile = Self("unreadableFile")
    /// A file can't be written; the underlying error says why.
    public static let unwritableFile = Self("unwritableFile")
    /// A file of cookies is not in the Netscape format; the message names the line.
    public static let invalidCookieFile = Self("invalidCookieFile")
    /// The dispatcher was shut down.
    public static let shutDown = Self("shutDown")

    // MARK: Ended by the caller or by a clock

    /// The request's streamed body has less or more bytes than its length says.
    public static let bodyLengthMismatch = Self("bodyLengthMismatch")

    /// The caller cancelled.
    public static let cancelled = Self("cancelled")
    /// No connection within ``TransportOptions/connectTimeout``.
    public static let connectTimeout = Self("connectTimeout")
    /// Nothing moved for ``TransportOptions/idleTimeout``.
    public static let idleTimeout = Self("idleTimeout")
    /// Not done within ``TransportOptions/totalTimeout``.
    public static let totalTimeout = Self("totalTimeout")

    /// Nothing of the response within ``TransportOptions/firstByteTimeout``.
    public static let firstByteTimeout = Self("firstByteTimeout")
    /// Slower than ``TransportOptions/Rate/LowSpeed`` for too long.
    public static let lowSpeed = Self("lowSpeed")

    // MARK: The network and the peer

    /// The host's name could not be resolved.
    public static let nameNotResolved = Self("nameNotResolved")
    /// No connection: refused, unreachable.
    public static let connectFailed = Self("connectFailed")
    /// The name leads to addresses that ``TransportOptions/addressPolicy`` does not allow; no connection was made to
    /// them.
    public static let addressRefused = Self("addressRefused")
    /// The connection ended before the response did, and not in the middle of a body of known length.
    public static let connectionLost = Self("connectionLost")
    /// The TLS handshake or the certificate check failed in a way that the TLS library does not tell apart. ``isTLS``
    /// asks for this and for those that it does, which follow.
    public static let tlsFailed = Self("tlsFailed")
    /// The server's certificate has expired.
    public static let certificateExpired = Self("certificateExpired")
    /// The server's certificate is not valid yet; or this machine's clock is wrong.
    public static let certificateNotYetValid = Self("certificateNotYetValid")
    /// The server's certificate is for other hosts.
    public static let certificateHostMismatch = Self("certificateHostMismatch")
    /// The server's certificate is signed by itself and by nobody else. GnuTLS calls it ``certificateUntrusted``.
    public static let certificateSelfSigned = Self("certificateSelfSigned")
    /// The server's certificate comes from an authority that is not trusted.
    public static let certificateUntrusted = Self("certificateUntrusted")
    /// The server's certificate was revoked.
    public static let certificateRevoked = Self("certificateRevoked")
    /// The server's key is none of ``TransportOptions/TLS/pinnedPublicKeys``.
    public static let pinnedKeyMismatch = Self("pinnedKeyMismatch")
    /// The two sides have no version of TLS in common; see ``TransportOptions/TLS/minimumVersion``.
    public static let tlsVersionRefused = Self("tlsVersionRefused")
    /// The server wants a certificate of the client.
    public static let clientCertificateRequired = Self("clientCertificateRequired")
    /// The server does not accept the client's certificate.
    public static let clientCertificateRefused = Self("clientCertificateRefused")
    /// ``TransportOptions/TLS/clientCertificate`` or its key can't be read, or its password is wrong.
    public static let clientCertificateUnusable = Self("clientCertificateUnusable")

    /// Whether it is one of the faults of TLS.
    public var isTLS: Bool { Self.tlsCodes.contains(self) }

    private static let tlsCodes: Set<Self> = [
        tlsFailed, certificateExpired, certificateNotYetValid, certificateHostMismatch, certificateSelfSigned,
        certificateUntrusted, certificateRevoked, pinnedKeyMismatch, tlsVersionRefused, clientCertificateRequired,
        clientCertificateRefused, clientCertificateUnusable,
    ]
    /// The proxy could not be used.
    public static let proxyFailed = Self("proxyFailed")
    /// What arrived is not HTTP, or contradicts itself.
    public static let invalidResponse = Self("invalidResponse")
    /// The response's head is larger than we accept.
    public static let responseHeadTooLarge = Self("responseHeadTooLarge")
    /// The body ended before its announced length.
    public static let truncatedBody = Self("truncatedBody")
    /// The decoded body is larger than ``TransportOptions/maximumBodyBytes``.
    public static let bodyTooLarge = Self("bodyTooLarge")
    /// The body's Content-Encoding is damaged or unknown.
    public static let invalidContentEncoding = Self("invalidContentEncoding")
    /// The layer below failed in a way it does not tell apart; see ``NetworkError/underlying``.
    public static let unclassified = Self("unclassified")

    /// A line of the body is longer than its limit.
    public static let lineTooLong = Self("lineTooLong")
    /// The data of a server-sent event is larger than ``ServerSentEvents/Options/maximumEventBytes``.
    public static let eventTooLarge = Self("eventTooLarge")

    // MARK: Files

    /// The file system is full, or its quota is used up.
    public static let diskFull = Self("diskFull")
    /// What arrived is not what ``DownloadedFile/Options/checksum`` expects.
    public static let checksumMismatch = Self("checksumMismatch")

    // MARK: The answer arrived and was refused

    /// More redirects than ``RedirectPolicy/maximum``.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// A redirect that must not be followed: from https to http, or against the caller's policy.
    public static let redirectRefused = Self("redirectRefused")

    /// The status is none of those that are accepted, 2xx mostly; see ``NetworkError/response``.
    public static let unacceptableStatus = Self("unacceptableStatus")
    /// The Content-Type is none of those that were asked for; see ``NetworkError/response``.
    public static let unacceptableContentType = Self("unacceptableContentType")
    /// The body is empty where a value was expected.
    public static let noData = Self("noData")
    /// The body is not text in the charset that its Content-Type names.
    public static let undecodableText = Self("undecodableText")
    /// The body is not what the response type expects; see ``NetworkError/decoding``.
    public static let decodingFailed = Self("decodingFailed")
}

extension NetworkError {
    /// A URL that can't be used; matches any error with ``Code/invalidURL``.
    public static let invalidURL = NetworkError(.invalidURL, "the URL is not an absolute http or https URL")
    /// A body that is missing; matches any error with ``Code/noData``.
    public static let noData = NetworkError(.noData, "the response has no body")
    /// The caller cancelled; matches any error with ``Code/cancelled``.
    public static let cancelled = NetworkError(.cancelled, "the request was cancelled")
    /// No connection in time; matches any error with ``Code/connectTimeout``.
    public static let connectTimeout = NetworkError(.connectTimeout, "no connection within the connect timeout")
    /// Nothing moved for too long; matches any error with ``Code/idleTimeout``.
    public static let idleTimeout = NetworkError(.idleTimeout, "nothing moved for the idle timeout")
    /// Not done in time; matches any error with ``Code/totalTimeout``.
    public static let totalTimeout = NetworkError(.totalTimeout, "the exchange was not done within the total timeout")

    /// Matches by code, so that `catch NetworkError.cancelled` does what it reads like.
    public static func ~= (pattern: NetworkError, error: any Error) -> Bool {
        (error as? NetworkError)?.code == pattern.code
    }
}
