public import HTTPTypes
public import Logging

/// An interceptor that logs requests and their responses to a swift-log `Logger`, without secrets and without bodies.
///
/// Without a logger of its own it takes the task's, `Logger.current`, for each message: what a service's handler binds
/// with `withLogger(mergingMetadata:)`, such as the number of its request, is in the lines of the calls it makes.
///
/// A message has the method, the URL without its query, the status and the time. Its metadata have the same for
/// programs, under the names of
/// [OpenTelemetry's conventions](https://opentelemetry.io/docs/specs/semconv/http/http-spans/):
///
/// | key | value |
/// | --- | --- |
/// | `http.request.method`, `url.full` | the request; the URL without query, user and password |
/// | `url.template` | ``TransportRequest/template``, where the request has one |
/// | `http.response.status_code` | the status, where there is a response |
/// | `http.client.request.duration` | the time to the response's head or to the failure, in seconds |
/// | `error.type` | the ``NetworkError/Code``, or the type of another error |
/// | `transport` | the transport that carried the exchange, where it is known; for a canary, the one that was chosen |
/// | `call`, `attempt`, `exchange` | the call's number, and which attempt and exchange of it |
/// | `request`, `response` | from debug level on: the header fields in their order; a secret value shows as `…` |
///
/// URLs in header fields show no user, password, query or fragment.
///
/// What a client makes of a response is not in the log: a rejected status or a body that does not decode is a response
/// here, and a request that is refused before it begins has no line. Log the error where the call's caller catches it.
///
/// In ``NetworkClient/interceptors`` it logs calls; in ``NetworkClient/exchangeInterceptors`` it logs each exchange, as
/// the steps before it made the request.
public struct LoggingInterceptor: Interceptor {
    private let own: Logger?
    private let level: Logger.Level
    private let failureLevel: Logger.Level
    private let ownSecrets: Set<HTTPField.Name>

    /// Creates a logging interceptor.
    /// - Parameters:
    ///   - logger: The logger that receives the messages. Default: `nil`, for the task's, `Logger.current`. One that no
    ///     `withLogger` has bound is swift-log's, with an empty label.
    ///   - level: The level of responses with a status below 500, and of cancelled requests. Default: `info`.
    ///   - failureLevel: The level of requests that end without a response, and of responses with a status of 500 or
    ///     above. Default: `warning`.
    ///   - secretFields: More header fields whose values are not shown, in addition to ``SecretFields`` and
    ///     ``TransportOptions/secretFields``.
    public init(
        _ logger: Logger? = nil, level: Logger.Level = .info, failureLevel: Logger.Level = .warning,
        secretFields: Set<HTTPField.Name> = []
    ) {
        own = logger
        self.level = level
        self.failureLevel = failureLevel
        ownSecrets = secretFields
    }

    /// Passes the request on and logs the outcome.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next)
        async throws -> TransportResponse
    {
        let start = ContinuousClock.now
        // The steps below run in the same task or in a child, so the task's logger is the same before and after.
        let logger = own ?? .current
        do {
            let response = try await next(request)
            let level = response.head.status.code < 500 ? level : failureLevel
            guard level >= logger.logLevel else { return response }
            let time = start.duration(to: .now)
            var metadata = metadata(of: call, request, time, .success(response), for: logger)
            if logger.logLevel <= .debug { metadata["response"] = shown(response.head.headerFields, of: request) }
            logger.log(
                level: level,
                "\(request.method.rawValue) \(request.url): \(response.head.status.code) in \(time.shortText)",
                metadata: metadata
            )
            return response
        } catch {
            let reported = call.reported(error)
            let level = NetworkError.cancelled ~= reported ? level : failureLevel
            guard level >= logger.logLevel else { throw error }
            let time = start.duration(to: .now)
            let reason = NetworkError.logText(of: reported)
            logger.log(
                level: level,
                "\(request.method.rawValue) \(request.url): failed after \(time.shortText): \(reason)",
                metadata: metadata(of: call, request, time, .failure(reported), for: logger)
            )
            throw error
        }
    }

    private func metadata(
        of call: NetworkClient.Call, _ request: TransportRequest, _ time: Duration,
        _ outcome: Result<TransportResponse, any Error>, for logger: Logger
    ) -> Logger.Metadata {
        let microseconds = Int(min(max(0, time.inSeconds * 1e6), 1e15).rounded())
        let seconds = "\(microseconds / 1_000_000).\("\(1_000_000 + microseconds % 1_000_000)".dropFirst())"
        var metadata: Logger.Metadata = [
            "http.request.method": "\(Redaction.visible(request.method.rawValue))", "url.full": "\(request.url)",
            "http.client.request.duration": "\(seconds)", "call": "\(call.id)",
            "attempt": "\(call.attempts)", "exchange": "\(call.exchanges)",
        ]
        metadata["url.template"] = request.template.map { "\($0)" }
        switch outcome {
        case .success(let response):
            metadata["http.response.status_code"] = "\(response.status.code)"
            metadata["transport"] = response.carrier.map { "\($0)" }
        case .failure(let error):
            let named = error as? NetworkError
            metadata["transport"] = named?.exchange.map { "\($0.transport)" }
            metadata["error.type"] = "\(NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))")"
            metadata["http.response.status_code"] = (named?.response?.status.code).map { "\($0)" }
        }
        if logger.logLevel <= .debug { metadata["request"] = shown(request.headerFields, of: request) }
        return metadata
    }

    private func shown(_ fields: HTTPFields, of request: TransportRequest) -> Logger.MetadataValue {
        let redaction = Redaction(secrets: ownSecrets.union(request.options.secretFields))
        return .array(fields.map { "\($0.name.rawName): \(redaction.value(of: $0))" })
    }
}

extension Interceptor where Self == LoggingInterceptor {
    /// Logs requests and their responses; see ``LoggingInterceptor/init(_:level:failureLevel:secretFields:)``.
    public static func logging(
        _ logger: Logger? = nil,
        level: Logger.Level = .info,
        failureLevel: Logger.Level = .warning,
        secretFields: Set<HTTPField.Name> = []
    ) -> LoggingInterceptor {
        LoggingInterceptor(logger, level: level, failureLevel: failureLevel, secretFields: secretFields)
    }
}
