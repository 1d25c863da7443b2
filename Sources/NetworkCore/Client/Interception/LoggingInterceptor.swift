public import HTTPTypes
public import Logging

/// An interceptor that logs requests and their responses to a swift-log `Logger`, without secrets and without bodies.
///
/// A message has the method, the URL without its query, the status and the time. Its metadata have the call's number,
/// the attempt and the exchange, and at debug level the header fields. Secret fields show `…`, and URLs in other fields
/// show no user, password, query or fragment. A failure is logged as a warning, a cancellation at the level of
/// responses.
///
/// In ``NetworkClient/interceptors`` it logs calls; in ``NetworkClient/exchangeInterceptors`` it logs each exchange, as
/// the steps before it made the request.
public struct LoggingInterceptor: Interceptor {
    private let logger: Logger
    private let level: Logger.Level
    private let ownSecrets: Set<HTTPField.Name>

    /// Creates a logging interceptor.
    /// - Parameters:
    ///   - logger: The logger that receives the messages.
    ///   - level: The level of responses, whatever their status. Default: `info`.
    ///   - secretFields: More header fields whose values are not shown, in addition to ``SecretFields`` and
    ///     ``TransportOptions/secretFields``.
    public init(_ logger: Logger, level: Logger.Level = .info, secretFields: Set<HTTPField.Name> = []) {
        self.logger = logger
        self.level = level
        ownSecrets = secretFields
    }

    /// Passes the request on and logs the outcome.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        let start = ContinuousClock.now
        do {
            let response = try await next(request)
            var metadata = metadata(of: call, request)
            if logger.logLevel <= .debug {
                metadata["response"] = .dictionary(shown(response.head.headerFields, of: request))
            }
            logger.log(
                level: level,
                "\(request.method.rawValue) \(request.url): \(response.head.status.code) in \(start.elapsed)",
                metadata: metadata
            )
            return response
        } catch {
            let isCancelled = NetworkError.cancelled ~= error
            logger.log(
                level: isCancelled ? level : .warning,
                "\(request.method.rawValue) \(request.url): failed after \(start.elapsed): \(NetworkError.logText(of: error))",
                metadata: metadata(of: call, request)
            )
            throw error
        }
    }

    private func metadata(of call: NetworkClient.Call, _ request: TransportRequest) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "call": "\(call.id)", "attempt": "\(call.attempts)", "exchange": "\(call.exchanges)",
        ]
        if logger.logLevel <= .debug { metadata["request"] = .dictionary(shown(request.headerFields, of: request)) }
        return metadata
    }

    private func shown(_ fields: HTTPFields, of request: TransportRequest) -> Logger.Metadata {
        let redaction = Redaction(secrets: ownSecrets.union(request.options.secretFields))
        var shown: Logger.Metadata = [:]
        for field in fields {
            let value = redaction.value(of: field)
            shown[field.name.rawName] = shown[field.name.rawName].map { "\($0), \(value)" } ?? "\(value)"
        }
        return shown
    }
}

extension ContinuousClock.Instant {
    fileprivate var elapsed: String { (ContinuousClock.now - self).shortText }
}

extension Interceptor where Self == LoggingInterceptor {
    /// Logs requests and their responses.
    public static func logging(
        _ logger: Logger,
        level: Logger.Level = .info,
        secretFields: Set<HTTPField.Name> = []
    ) -> LoggingInterceptor {
        LoggingInterceptor(logger, level: level, secretFields: secretFields)
    }
}
