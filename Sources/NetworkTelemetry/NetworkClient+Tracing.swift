#if Tracing
import HTTPTypes
public import NetworkCore
public import Tracing

extension NetworkClient {
    /// Returns the client with spans of
    /// [swift-distributed-tracing](https://github.com/apple/swift-distributed-tracing): one for each call, and below it
    /// one for each exchange, so for each attempt and each redirect.
    ///
    /// ```swift
    /// let client = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "https://api.example.com").traced()
    /// ```
    ///
    /// The exchanges' spans have the kind `client`, and names and attributes by [OpenTelemetry's
    /// conventions](https://opentelemetry.io/docs/specs/semconv/http/http-spans/): they are called `GET /users/{id}`,
    /// or `GET` without a ``NetworkCore/TransportRequest/template``; `url.full` has `…` for a query. The phases of the
    /// exchange are events, each at its end: `queue`, `name`, `tcp`, `tls`, `request sent`, `first byte`. A phase that
    /// the transport does not report, or that a kept connection does not have, is left out.
    ///
    /// A span ends with the response's body: when it is read to its end, fails, or is released before. The instrument
    /// in use writes the context of the exchange's span into its header fields (`traceparent`), in place of the
    /// request's own ones. Within the call, `ServiceContext.current` is the context of its span, for interceptors and
    /// for the streams of request bodies.
    ///
    /// The call's span is the outermost step, and the exchange's the innermost one. A client that is traced already
    /// gets the new tracer.
    /// - Parameter tracer: The tracer. Default: the one in use at the time of the call
    ///   (`InstrumentationSystem.tracer`). A program without one sends what its instrument has to send, such as
    ///   ``W3CPropagator``.
    public func traced(by tracer: (any Tracer)? = nil) -> NetworkClient {
        with {
            $0.interceptors.removeAll { $0 is CallSpans }
            $0.exchangeInterceptors.removeAll { $0 is ExchangeSpans }
            $0.interceptors.insert(CallSpans(tracer: tracer), at: 0)
            $0.exchangeInterceptors.append(ExchangeSpans(tracer: tracer))
        }
    }
}

/// The span of a call, to the end of its response's body.
private struct CallSpans: Interceptor {
    let tracer: (any Tracer)?

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let span = (tracer ?? InstrumentationSystem.tracer).startSpan(request.spanName)
        span.attributes = SpanAttributes(of: request)
        return try await ServiceContext.withValue(span.context) {
            try await next.watched(request, in: call) { outcome in
                span.updateAttributes {
                    if call.attempts > 1 { $0["networklayer.attempts"] = call.attempts }
                    if !call.redirects.isEmpty { $0["networklayer.redirects"] = call.redirects.count }
                }
                span.end(outcome)
            }
        }
    }
}

/// The span of an exchange, whose context goes to the server.
private struct ExchangeSpans: Interceptor {
    let tracer: (any Tracer)?

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let start = DefaultTracerClock.now
        let span = (tracer ?? InstrumentationSystem.tracer).startSpan(request.spanName, ofKind: .client, at: start)
        var attributes = SpanAttributes(of: request)
        if call.exchanges > 0 { attributes["http.request.resend_count"] = call.exchanges }
        span.attributes = attributes
        var request = request
        // A program may have an instrument and no tracer.
        (tracer ?? InstrumentationSystem.instrument).inject(
            span.context, into: &request.headerFields, using: FieldInjector())
        return try await ServiceContext.withValue(span.context) { [request] in
            try await next.watched(request, in: call) { outcome in
                if let metrics = outcome.response?.metrics {
                    span.updateAttributes { $0.add(metrics) }
                    for event in metrics.phases(from: start) { span.addEvent(event) }
                }
                span.end(outcome)
            }
        }
    }
}

/// Writes a value into header fields. A name or a value that no field may have is left out.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let field = try? HTTPField(checking: key, value: value) else { return }
        fields[field.name] = field.value
    }
}

extension Span {
    fileprivate func end(_ outcome: Outcome) {
        updateAttributes {
            $0["http.response.status_code"] = outcome.status?.code
            $0["error.type"] = outcome.errorType
        }
        if outcome.errorType != nil {
            setStatus(SpanStatus(code: .error, message: outcome.error.map(NetworkError.logText)))
        }
        end()
    }
}
#endif
