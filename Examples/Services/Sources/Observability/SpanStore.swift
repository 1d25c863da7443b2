import NetworkTelemetry
import Synchronization
import Tracing

/// A tracer that keeps the latest traces in memory, for a page of the service itself, and writes each finished span as
/// one line of JSON, for whatever collects the service's output.
///
/// ```swift
/// let spans = SpanStore { print($0) }
/// InstrumentationSystem.bootstrap(spans)
/// router.get("traces") { _, _ in spans.page() }
/// ```
///
/// Traces go on across processes by [W3C Trace Context](https://www.w3.org/TR/trace-context/). A trace that its caller
/// does not sample is passed on, and not recorded.
///
/// Memory is bounded: by the number of traces, of spans in each, and of the bytes of all; a span has at most 64
/// attributes, 64 events and 16 links, with texts of at most 1,000 characters. When there is too much, the quickest of
/// the oldest traces goes, of those without an error as long as those with errors are at most half of all.
public final class SpanStore: Tracer {
    struct Trace: Encodable, Sendable {
        let traceID: String
        var spans: [SpanRecord] = []
        /// The spans beyond the limit.
        var dropped = 0
        var isError = false
        /// The time of the longest span.
        var milliseconds: Double { spans.map(\.milliseconds).max() ?? 0 }

        /// Adds a span, in place of another one if there are too many.
        /// - Returns: By how many bytes the trace has grown.
        mutating func add(_ span: SpanRecord, limit: Int) -> Int {
            isError = isError || span.isError
            spans.append(span)
            guard spans.count > limit else { return span.bytes }
            // Never the new one: the span that has all others in it ends after them.
            let other = spans.dropLast().firstIndex { !$0.isError } ?? 0
            dropped += 1
            return span.bytes - spans.remove(at: other).bytes
        }
    }

    private let maximumTraces: Int
    private let maximumSpans: Int
    private let maximumBytes: Int
    private let write: (@Sendable (String) -> Void)?
    private let kept = Mutex(Kept())

    private struct Kept {
        /// In the order in which the first spans ended.
        var traces: [Trace] = []
        var bytes = 0
    }

    /// Creates a store without traces.
    /// - Parameters:
    ///   - traces: The number of traces that are kept.
    ///   - spansPerTrace: The number of spans that are kept of each trace; the page says how many there were beyond.
    ///   - bytes: The bytes of all kept spans, about.
    ///   - write: Called with each finished span as JSON, without a line feed, by the thread that ends the span.
    public init(
        traces: Int = 200, spansPerTrace: Int = 100, bytes: Int = 32 << 20, write: (@Sendable (String) -> Void)? = nil
    ) {
        (maximumTraces, maximumSpans) = (max(1, traces), max(1, spansPerTrace))
        (maximumBytes, self.write) = (bytes, write)
    }

    /// Returns all kept traces as JSON: an array, the oldest first.
    public func json() -> String { SpanRecord.json(traces) }

    /// Returns a trace as JSON; `nil` if it is not kept.
    public func json(trace id: String) -> String? {
        traces.first { $0.traceID == id }.map(SpanRecord.json)
    }

    var traces: [Trace] { kept.withLock { $0.traces } }

    /// Starts a span: in the trace of the context, or in a new one.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> StoredSpan {
        var context = context()
        let parent = context.traceContext
        let traceID = parent?.traceID ?? Self.identifier() + Self.identifier()
        let spanID = Self.identifier()
        context.traceContext = TraceContext(
            traceID: traceID, spanID: spanID, flags: parent?.flags ?? 1, state: parent?.state)
        let isSampled = context.traceContext.map { $0.flags & 1 == 1 } ?? false
        return StoredSpan(
            operationName, kind, traceID: traceID, spanID: spanID, parentID: parent?.spanID, in: context,
            at: instant().nanosecondsSinceEpoch, to: isSampled ? self : nil)
    }

    /// Spans are written when they end.
    public func forceFlush() {}

    /// Reads the place in a trace from the header fields of a request.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        W3CPropagator().extract(carrier, into: &context, using: extractor)
    }

    /// Writes the place in a trace into the header fields of a request.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        W3CPropagator().inject(context, into: &carrier, using: injector)
    }

    func add(_ span: SpanRecord) {
        kept.withLock { kept in
            let index = kept.traces.lastIndex { $0.traceID == span.traceID } ?? kept.traces.endIndex
            if index == kept.traces.endIndex { kept.traces.append(Trace(traceID: span.traceID)) }
            kept.bytes += kept.traces[index].add(span, limit: maximumSpans)
            while kept.traces.count > maximumTraces || kept.bytes > maximumBytes, !kept.traces.isEmpty {
                let removed = kept.traces.remove(at: Self.leastNeeded(of: kept.traces))
                kept.bytes -= removed.spans.reduce(0) { $0 + $1.bytes }
            }
        }
        write?(span.json)
    }

    private static func leastNeeded(of traces: [Trace]) -> Int {
        let errorsGoFirst = traces.count(where: \.isError) > traces.count / 2
        let group = traces.indices.filter { traces[$0].isError == errorsGoFirst }
        let oldest = group.prefix(max(1, min(8, group.count / 2)))
        return oldest.min { traces[$0].milliseconds < traces[$1].milliseconds } ?? traces.startIndex
    }

    /// 16 hexadecimal digits, not all 0.
    private static func identifier() -> String {
        let digits = String(UInt64.random(in: 1...(.max)), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A span that ``SpanStore`` keeps when it ends.
public final class StoredSpan: Span {
    private struct State {
        var name: String
        var status: SpanStatus?
        var error: String?
        var attributes: SpanAttributes = [:]
        var events: [SpanEvent] = []
        var links: [SpanLink] = []
        /// `nil` when the span has ended, or is not sampled.
        var store: SpanStore?
    }

    /// The context for what the span has in it.
    public let context: ServiceContext
    private let kind: SpanKind
    private let traceID: String
    private let spanID: String
    private let parentID: String?
    private let start: UInt64
    private let state: Mutex<State>

    init(
        _ name: String, _ kind: SpanKind, traceID: String, spanID: String, parentID: String?,
        in context: ServiceContext, at start: UInt64, to store: SpanStore?
    ) {
        (self.kind, self.traceID, self.spanID, self.parentID) = (kind, traceID, spanID, parentID)
        (self.context, self.start) = (context, start)
        state = Mutex(State(name: name, store: store))
    }

    /// The name, which may change until the end.
    public var operationName: String {
        get { state.withLock { $0.name } }
        set { change { $0.name = newValue } }
    }

    /// The attributes, which may change until the end.
    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { change { $0.attributes = newValue } }
    }

    /// Whether it is sampled and has not ended.
    public var isRecording: Bool { state.withLock { $0.store != nil } }

    /// Says whether the operation succeeded; the last one counts.
    public func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    /// Adds an event, unless there are 64.
    public func addEvent(_ event: SpanEvent) {
        change { if $0.events.count < SpanRecord.maximumEvents { $0.events.append(event) } }
    }

    /// Adds a link to another span, unless there are 16.
    public func addLink(_ link: SpanLink) {
        change { if $0.links.count < SpanRecord.maximumLinks { $0.links.append(link) } }
    }

    /// Adds the error as an event. It is the message of a status that has none, as `withSpan` sets it.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        attributes["exception.message"] = "\(error)"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
        change { $0.error = "\(error)" }
    }

    /// Ends the span; later changes and a second end do nothing.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let (ended, end) = (
            state.withLock { state in
                defer { state.store = nil }
                return state
            }, instant().nanosecondsSinceEpoch
        )
        ended.store?.add(record(of: ended, to: end))
    }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { if $0.store != nil { change(&$0) } }
    }

    private func record(of state: State, to end: UInt64) -> SpanRecord {
        var attributes = [String: String](state.attributes)
        // Users' data, of which no one has checked what is secret; the library leaves it out of `url.full` too.
        attributes["url.query"] = nil
        let isError = state.status?.code == .error && attributes["error.type"] != SpanRecord.cancelled
        return SpanRecord(
            traceID: traceID, spanID: spanID, parentID: parentID, name: state.name.bounded, kind: "\(kind)",
            startUnixNano: start, milliseconds: milliseconds(to: end), isError: isError,
            message: (state.status?.message ?? (isError ? state.error : nil))?.bounded,
            attributes: attributes,
            events: state.events.map {
                .init(
                    name: $0.name.bounded, milliseconds: milliseconds(to: $0.nanosecondsSinceEpoch),
                    attributes: .init($0.attributes))
            },
            links: state.links.compactMap { link in
                link.context.traceContext.map {
                    .init(traceID: $0.traceID, spanID: $0.spanID, attributes: .init(link.attributes))
                }
            })
    }

    /// The clock may be set back during a span.
    private func milliseconds(to time: UInt64) -> Double { time > start ? Double(time - start) / 1e6 : 0 }
}
