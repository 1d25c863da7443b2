#if Tracing
public import Tracing

/// The place in a trace that a request carries, by [W3C Trace Context](https://www.w3.org/TR/trace-context/).
///
/// ``W3CPropagator`` reads it from an incoming request, and a tracer of your own puts its span's into the context.
public struct TraceContext: Sendable, Hashable {
    /// The identifier of the trace: 32 hexadecimal digits in lower case, not all 0.
    public let traceID: String
    /// The identifier of the span that sends the request: 16 hexadecimal digits in lower case, not all 0.
    public let spanID: String
    /// The flags. Bit 0 says that the trace is sampled.
    public let flags: UInt8
    /// What vendors of tracing add (`tracestate`), passed on as it came; `nil` for nothing.
    public var state: String?

    /// Creates a place in a trace; `nil` for identifiers of another form.
    public init?(traceID: String, spanID: String, flags: UInt8 = 1, state: String? = nil) {
        guard Self.isIdentifier(traceID, digits: 32), Self.isIdentifier(spanID, digits: 16) else { return nil }
        (self.traceID, self.spanID, self.flags, self.state) = (traceID, spanID, flags, state)
    }

    /// Reads the value of `traceparent`; `nil` for one that is not valid. Of a version above 00, what follows the flags
    /// is ignored (§3.2.4).
    public init?(traceparent: String, state: String? = nil) {
        let parts = traceparent.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count >= 4, Self.isLowercaseHex(parts[0], digits: 2), parts[0] != "ff",
            parts[0] != "00" || parts.count == 4, Self.isLowercaseHex(parts[3], digits: 2),
            let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        self.init(traceID: parts[1], spanID: parts[2], flags: flags, state: state)
    }

    /// The value of the field `traceparent`, of version 00.
    public var traceparent: String {
        "00-\(traceID)-\(spanID)-\(flags < 16 ? "0" : "")\(String(flags, radix: 16))"
    }

    private static func isIdentifier(_ text: String, digits: Int) -> Bool {
        isLowercaseHex(text, digits: digits) && text.utf8.contains { $0 != UInt8(ascii: "0") }
    }

    private static func isLowercaseHex(_ text: String, digits: Int) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}

private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "trace-context" }
}

private enum BaggageKey: ServiceContextKey {
    typealias Value = String
    static var nameOverride: String? { "baggage" }
}

extension ServiceContext {
    /// The place in a trace, as it came with a request or as a tracer set it.
    public var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    /// The value of the field [`baggage`](https://www.w3.org/TR/baggage/), passed on as it came.
    public var baggage: String? {
        get { self[BaggageKey.self] }
        set { self[BaggageKey.self] = newValue }
    }
}

/// Carries `traceparent`, `tracestate` and `baggage` from the requests that a program receives to those that it sends,
/// for programs without a tracer: their callers' and their servers' spans stay in one trace.
///
/// ```swift
/// InstrumentationSystem.bootstrap(W3CPropagator())
/// ```
///
/// The server extracts them (in Hummingbird, `TracingMiddleware`), and a client with
/// ``NetworkCore/NetworkClient/traced(by:)`` injects them. A `traceparent` that is not valid is dropped with its
/// `tracestate`; a `tracestate` beyond 512 bytes and a `baggage` beyond 8,192 bytes are dropped whole.
public struct W3CPropagator: Instrument {
    /// Creates the propagator.
    public init() {}

    /// Reads the three fields of an incoming request.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        if let parent = extractor.extract(key: "traceparent", from: carrier) {
            let state = extractor.extract(key: "tracestate", from: carrier).flatMap { Self.limited($0, to: 512) }
            context.traceContext = TraceContext(traceparent: parent, state: state)
        }
        context.baggage = extractor.extract(key: "baggage", from: carrier).flatMap { Self.limited($0, to: 8_192) }
    }

    /// Writes the fields of an outgoing request. What the context does not have is left out.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        if let trace = context.traceContext {
            injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
            if let state = trace.state { injector.inject(state, forKey: "tracestate", into: &carrier) }
        }
        if let baggage = context.baggage { injector.inject(baggage, forKey: "baggage", into: &carrier) }
    }

    private static func limited(_ text: String, to bytes: Int) -> String? {
        text.isEmpty || text.utf8.count > bytes ? nil : text
    }
}
#endif
