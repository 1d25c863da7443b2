import Foundation
import FoundationNetworking
import NetworkCore

extension NetworkError {
    /// Creates an error from URLSession's. Where FoundationNetworking has only the code -1, libcurl's text decides.
    init(urlSessionError error: any Error) {
        let error = error as NSError
        // Foundation wraps its own error in a second one with the same text.
        let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError
        let text = (inner ?? error).localizedDescription
        let (code, phase) = Self.classify(domain: error.domain, code: error.code, text: text)
        self.init(
            code,
            Self.sentence(for: code),
            phase: phase,
            underlying: .init(domain: error.domain, code: error.code, message: text)
        )
    }

    /// Returns the code, and the phase if the code determines it.
    static func classify(domain: String, code: Int, text: String) -> (Code, Phase?) {
        guard domain == NSURLErrorDomain else { return (.unclassified, nil) }
        // The text first: a refused connection to a proxy and one to the host have the same number.
        let words = withoutHost(text.lowercased())
        if words.contains("ssl_connect") || words.contains("tls connect error"), TLSFault.code(for: text) == nil,
            TLSFault.isEndOfConnection(text)
        {
            return (.connectFailed, .connecting)
        }
        if let clue = clues.first(where: { clue in clue.words.contains { words.contains($0) } }) {
            guard clue.code == .tlsFailed else { return (clue.code, clue.phase) }
            return (TLSFault.code(for: text) ?? .tlsFailed, clue.phase)
        }
        return numbers[code] ?? (.unclassified, nil)
    }

    /// Returns a text of libcurl without the host that it names, which may have any word in it.
    private static func withoutHost(_ text: String) -> String {
        for start in ["failed to connect to ", "resolve host: ", "resolve proxy: ", "connect fail for ", "host name '"]
        {
            guard let range = text.firstRange(of: start) else { continue }
            return String(text[..<range.upperBound] + text[range.upperBound...].drop { $0 != " " })
        }
        return text
    }

    /// In this order: an SSL library's message on a lost connection is not about TLS. Where libcurl has changed its
    /// texts, the older ones come first.
    private static let clues: [(words: [String], code: Code, phase: Phase?)] = [
        (["resolve proxy", "from proxy", "connect tunnel", "proxy connect", "socks"], .proxyFailed, .connecting),
        (["resolve host"], .nameNotResolved, .connecting),
        (["remaining to read", "outstanding read data", "bytes missing"], .truncatedBody, .receiving),
        (
            ["content unencoding", "content encoding", "unsolicited transfer-encoding", "multi-member gzip"],
            .invalidContentEncoding, .receiving
        ),
        (
            ["too large response headers", "out of memory", "grew larger than allowed"], .responseHeadTooLarge,
            .receiving
        ),
        (
            [
                "connection reset", "ssl_read", "ssl_write", "recv failure", "send failure", "broken pipe",
                "empty reply", "there's no response", "not closed cleanly", "framing layer", "connection died",
            ], .connectionLost, nil
        ),
        (["ssl", "tls", "certificate", "alpn"], .tlsFailed, .connecting),
        (["failed to connect", "couldn't connect", "unreachable", "no route"], .connectFailed, .connecting),
        (
            [
                "http/0.9", "unsupported http", "weird server", "chunk", "hexadecimal", "invalid content-length",
                "invalid status", "failed writing", "failure writing", "header", "unsupported response",
            ], .invalidResponse, .receiving
        ),
    ]

    private static let numbers: [Int: (Code, Phase?)] = [
        NSURLErrorCannotFindHost: (.nameNotResolved, .connecting),
        NSURLErrorDNSLookupFailed: (.nameNotResolved, .connecting),
        NSURLErrorCannotConnectToHost: (.connectFailed, .connecting),
        NSURLErrorNotConnectedToInternet: (.connectFailed, .connecting),
        // Our own timeouts come first; this is libcurl's limit of 300 s for a connection, or the kernel's.
        NSURLErrorTimedOut: (.connectTimeout, .connecting),
        NSURLErrorNetworkConnectionLost: (.connectionLost, nil),
        NSURLErrorBadServerResponse: (.invalidResponse, .receiving),
        NSURLErrorCannotParseResponse: (.invalidResponse, .receiving),
        NSURLErrorCannotDecodeContentData: (.invalidContentEncoding, .receiving),
        NSURLErrorCannotDecodeRawData: (.invalidContentEncoding, .receiving),
        NSURLErrorSecureConnectionFailed: (.tlsFailed, .connecting),
        NSURLErrorServerCertificateHasBadDate: (.certificateExpired, .connecting),
        NSURLErrorServerCertificateUntrusted: (.certificateUntrusted, .connecting),
        NSURLErrorServerCertificateHasUnknownRoot: (.certificateUntrusted, .connecting),
        NSURLErrorServerCertificateNotYetValid: (.certificateNotYetValid, .connecting),
        NSURLErrorClientCertificateRejected: (.clientCertificateRefused, .connecting),
        NSURLErrorClientCertificateRequired: (.clientCertificateRequired, .connecting),
        NSURLErrorBadURL: (.invalidURL, .preparing),
        NSURLErrorUnsupportedURL: (.invalidURL, .preparing),
        NSURLErrorCancelled: (.cancelled, nil),
    ]

    private static func sentence(for code: Code) -> String {
        switch code {
        case .proxyFailed: "the proxy could not be used"
        case .nameNotResolved: "the host's name could not be resolved"
        case .connectFailed: "no connection could be made"
        case .connectTimeout: "no connection was made in time"
        case .connectionLost: "the connection ended before the response did"
        case _ where code.isTLS: TLSFault.sentence(for: code)
        case .truncatedBody: "the body ended before its announced length"
        case .invalidContentEncoding: "the body's Content-Encoding is damaged or unknown"
        case .responseHeadTooLarge: "the response's head is too large"
        case .invalidResponse: "what arrived is not a response that FoundationNetworking can read"
        case .invalidURL: "URLSession can't use the URL"
        case .cancelled: "URLSession cancelled the request"
        default: "URLSession failed without a specific error"
        }
    }
}
