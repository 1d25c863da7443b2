public import Foundation
import FoundationNetworking
public import NetworkCore

extension URLError {
    /// The error below: its code, phase and message say more.
    public var networkError: NetworkError? { userInfo[NSUnderlyingErrorKey] as? NetworkError }

    /// The error of a call in Foundation's terms; a delegate's or an interceptor's own error stays as it is.
    static func from(_ error: any Error, url: URL?) -> any Error {
        if error is CancellationError { return from(NetworkError.cancelled, url: url) }
        guard let error = error as? NetworkError else { return error }
        var info: [String: Any] = [
            NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.message,
        ]
        if let url { info[NSURLErrorFailingURLErrorKey] = url }
        return URLError(code(of: error, url), userInfo: info)
    }

    private static func code(of error: NetworkError, _ url: URL?) -> URLError.Code {
        switch error.code {
        case .invalidURL:
            return ["http", "https", nil].contains(url?.scheme?.lowercased()) ? .badURL : .unsupportedURL
        case .connectFailed where error.underlying?.domain == "errno":
            return offline.contains(error.underlying?.code ?? 0) ? .notConnectedToInternet : .cannotConnectToHost
        default: return codes[error.code] ?? .unknown
        }
    }

    /// ENETDOWN, ENETUNREACH: no route leads anywhere.
    private static let offline: Set<Int> = [Int(ENETDOWN), Int(ENETUNREACH)]

    private static let codes: [NetworkError.Code: URLError.Code] = [
        .cancelled: .cancelled, .shutDown: .cancelled,
        .connectTimeout: .timedOut, .idleTimeout: .timedOut, .totalTimeout: .timedOut, .firstByteTimeout: .timedOut,
        .lowSpeed: .timedOut, .attemptTimeout: .timedOut,
        .nameNotResolved: .cannotFindHost,
        .connectFailed: .cannotConnectToHost, .addressRefused: .cannotConnectToHost, .proxyFailed: .cannotConnectToHost,
        .connectionLost: .networkConnectionLost, .truncatedBody: .networkConnectionLost,
        .tlsFailed: .secureConnectionFailed, .tlsVersionRefused: .secureConnectionFailed,
        .certificateExpired: .serverCertificateHasBadDate, .certificateNotYetValid: .serverCertificateNotYetValid,
        .certificateHostMismatch: .serverCertificateUntrusted, .certificateRevoked: .serverCertificateUntrusted,
        .pinnedKeyMismatch: .serverCertificateUntrusted, .certificateSelfSigned: .serverCertificateHasUnknownRoot,
        .certificateUntrusted: .serverCertificateHasUnknownRoot,
        .clientCertificateRequired: .clientCertificateRequired, .clientCertificateRefused: .clientCertificateRejected,
        .clientCertificateUnusable: .clientCertificateRejected,
        .invalidResponse: .badServerResponse, .responseHeadTooLarge: .badServerResponse,
        .bodyTooLarge: .dataLengthExceedsMaximum, .invalidContentEncoding: .cannotDecodeContentData,
        .bodyAlreadyRead: .requestBodyStreamExhausted, .unreadableFile: .cannotOpenFile,
        .unwritableFile: .cannotWriteToFile, .diskFull: .cannotWriteToFile,
        .tooManyRedirects: .httpTooManyRedirects, .redirectRefused: .appTransportSecurityRequiresSecureConnection,
        .overloaded: .resourceUnavailable, .circuitOpen: .resourceUnavailable,
    ]
}
