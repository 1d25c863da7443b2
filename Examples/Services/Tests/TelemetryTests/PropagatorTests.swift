import HTTPTypes
import NetworkLayer
import NetworkTesting
import Testing
import Tracing

@testable import NetworkTelemetry

/// W3C Trace Context without a tracer.
@Suite("The W3C propagator")
struct PropagatorTests {
    private struct Dictionary: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736", span = "00f067aa0ba902b7"
    private static let parent = "00-\(trace)-\(span)-01"

    /// The other tests of the process name their tracers.
    private static let bootstrapped: Void = InstrumentationSystem.bootstrap(W3CPropagator())

    private func carried(_ fields: [String: String]) -> [String: String] {
        var (context, carrier) = (ServiceContext.topLevel, [String: String]())
        W3CPropagator().extract(fields, into: &context, using: Dictionary())
        W3CPropagator().inject(context, into: &carrier, using: Dictionary())
        return carrier
    }

    @Test func `what came is passed on as it came`() {
        let fields = ["traceparent": Self.parent, "tracestate": "a=1,b=2", "baggage": "user=ada"]
        #expect(carried(fields) == fields)
        #expect(carried([:]).isEmpty)
        let unsampled = ["traceparent": "00-\(Self.trace)-\(Self.span)-00"]
        #expect(carried(unsampled) == unsampled)
    }

    @Test func `a later version is read as far as it is known`() {
        let later = carried(["traceparent": "cc-\(Self.trace)-\(Self.span)-01-what-the-future-brings"])
        #expect(later == ["traceparent": Self.parent])
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-x",
        "ff-\(trace)-\(span)-01",
        "00-\(String(repeating: "0", count: 32))-\(span)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace)-\(span)-1",
        "00-\(trace.uppercased())-\(span)-01", "0x-\(trace)-\(span)-01", "00-\(trace)-\(span)-zz",
        "00-\(trace) -\(span)-01",
    ])
    func `a field that is not valid is dropped with its state`(parent: String) {
        #expect(carried(["traceparent": parent, "tracestate": "a=1", "baggage": "b=2"]) == ["baggage": "b=2"])
    }

    @Test func `what is too long is dropped whole`() {
        func text(_ count: Int) -> String { String(repeating: "a", count: count) }
        let longest = ["traceparent": Self.parent, "tracestate": text(512), "baggage": text(8_192)]
        #expect(carried(longest) == longest)
        let longer = ["traceparent": Self.parent, "tracestate": text(513), "baggage": text(8_193)]
        #expect(carried(longer) == ["traceparent": Self.parent])
    }

    @Test func `a program without a tracer sends what it got`() async throws {
        let stub = StubTransport(always: .text(""))
        let client = NetworkClient(transport: stub, baseURL: "http://h").traced(by: nil)
        var context = ServiceContext.topLevel
        context.traceContext = TraceContext(traceparent: Self.parent)
        Self.bootstrapped
        _ = try await ServiceContext.withValue(context) { try await client.send(RequestData(path: "a"), as: .text) }
        #expect(stub.sent[0].headerFields[.init("traceparent")!] == Self.parent)
    }
}
