import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct NetworkErrorURLSessionTests {
    /// Errors that FoundationNetworking reported with libcurl 7.88, and their actual meaning.
    static let cases: [(number: Int, text: String, code: NetworkError.Code)] = [
        (NSURLErrorCannotFindHost, "Could not resolve host: nothing.invalid", .nameNotResolved),
        (NSURLErrorUnknown, "Could not resolve proxy: nothing.invalid", .proxyFailed),
        (NSURLErrorUnknown, "Received HTTP code 407 from proxy after CONNECT", .proxyFailed),
        (NSURLErrorUnknown, "CONNECT tunnel failed, response 403", .proxyFailed),
        (NSURLErrorCannotConnectToHost, "Failed to connect to 127.0.0.1 port 9 after 0 ms", .connectFailed),
        (NSURLErrorUnknown, "Couldn't connect to server", .connectFailed),
        // Regression: a word in the host's name decided.
        (
            NSURLErrorCannotConnectToHost,
            "Failed to connect to api.classlink.com port 80 after 0 ms: Couldn't connect to server",
            .connectFailed
        ),
        (NSURLErrorCannotFindHost, "Could not resolve host: socks.example", .nameNotResolved),
        (NSURLErrorCannotFindHost, "Could not resolve host: tls", .nameNotResolved),
        (
            NSURLErrorUnknown,
            "SSL: no alternative certificate subject name matches target host name 'revoked.example'",
            .certificateHostMismatch
        ),
        (
            NSURLErrorUnknown, "SSL: no alternative certificate subject name matches target host name 'socks.example'",
            .certificateHostMismatch
        ),
        (NSURLErrorUnknown, "Immediate connect fail for 10.0.0.1: Network is unreachable", .connectFailed),
        (NSURLErrorTimedOut, "Connection timed out after 300000 milliseconds", .connectTimeout),
        (NSURLErrorNetworkConnectionLost, "Recv failure: Connection reset by peer", .connectionLost),
        (NSURLErrorBadServerResponse, "Empty reply from server", .connectionLost),
        (NSURLErrorUnknown, "OpenSSL SSL_read: Connection reset by peer, errno 104", .connectionLost),
        (NSURLErrorUnknown, "HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", .connectionLost),
        (NSURLErrorUnknown, "SSL certificate problem: self-signed certificate", .certificateSelfSigned),
        (NSURLErrorUnknown, "OpenSSL/3.0.17: error:0A00010B:SSL routines::wrong version number", .tlsFailed),
        (NSURLErrorUnknown, "transfer closed with 95 bytes remaining to read", .truncatedBody),
        (NSURLErrorUnknown, "transfer closed with outstanding read data remaining", .truncatedBody),
        (NSURLErrorUnknown, "end of response with 90 bytes missing", .truncatedBody),
        (NSURLErrorUnknown, "A value or data field grew larger than allowed", .responseHeadTooLarge),
        (NSURLErrorUnknown, "Failure writing output to destination, passed 12 returned 0", .invalidResponse),
        (
            NSURLErrorUnknown, "Error while processing content unencoding: incorrect header check",
            .invalidContentEncoding
        ),
        (NSURLErrorUnknown, "Unrecognized content encoding type", .invalidContentEncoding),
        (NSURLErrorUnknown, "Too large response headers: 307652 > 307200", .responseHeadTooLarge),
        (NSURLErrorUnknown, "Out of memory", .responseHeadTooLarge),
        (NSURLErrorUnknown, "Failed writing header", .invalidResponse),
        (NSURLErrorUnknown, "Invalid Content-Length: value", .invalidResponse),
        (NSURLErrorUnknown, "Illegal or missing hexadecimal sequence in chunked-encoding", .invalidResponse),
        (NSURLErrorUnsupportedURL, "Received HTTP/0.9 when not allowed", .invalidResponse),
        (NSURLErrorBadURL, "URL using bad/illegal format or missing URL", .invalidURL),
        (NSURLErrorUnknown, "something new", .unclassified),
    ]

    @Test(arguments: cases)
    func `an error gets its code`(number: Int, text: String, code: NetworkError.Code) {
        #expect(NetworkError.classify(domain: NSURLErrorDomain, code: number, text: text).0 == code)
    }

    @Test func `an error keeps number and words of the inner one`() {
        let text = "transfer closed with 3 bytes remaining to read"
        let inner = NSError(
            domain: NSURLErrorDomain, code: NSURLErrorUnknown, userInfo: [NSLocalizedDescriptionKey: text])
        let outer = NSError(
            domain: NSURLErrorDomain, code: NSURLErrorUnknown,
            userInfo: [NSUnderlyingErrorKey: inner, NSLocalizedDescriptionKey: "unknown"])
        let error = NetworkError(urlSessionError: outer)
        #expect(error.code == .truncatedBody)
        #expect(error.underlying?.domain == NSURLErrorDomain)
        #expect(error.underlying?.code == -1)
        #expect(error.underlying?.message == text)
    }

    @Test func `an error of another domain is unclassified`() {
        #expect(NetworkError(urlSessionError: NSError(domain: NSCocoaErrorDomain, code: 3072)).code == .unclassified)
    }
}
