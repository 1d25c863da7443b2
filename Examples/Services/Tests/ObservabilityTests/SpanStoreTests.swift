import Dispatch
import Foundation
import Instrumentation
import NetworkTelemetry
import Synchronization
import Testing
import Tracing

@testable import Observability

@Suite("The store of spans") struct SpanStoreTests {
    private struct Failure: Error {}

    private struct Fields: Extractor, Injector {
        func extract(key: String, from fields: [String: String]) -> String? { fields[key] }
        func inject(_ value: String, forKey key: String, into fields: inout [String: String]) { fields[key] = value }
    }

    private func time(_ milliseconds: UInt64) -> DefaultTracerClock.Timestamp {
        .init(nanosecondsSinceEpoch: 1_700_000_000_000_000_000 + milliseconds * 1_000_000)
    }

    private func context(from traceparent: String, by store: SpanStore) -> ServiceContext {
        var context = ServiceContext.topLevel
        store.extract(["traceparent": traceparent], into: &context, using: Fields())
        return context
    }

    @Test("A child is in the trace of its parent, and is written as one line when it ends")
    func nesting() throws {
        let lines = Mutex<[String]>([])
        let store = SpanStore { line in lines.withLock { $0.append(line) } }
        let parent = store.startSpan("GET /a", context: .topLevel, ofKind: .server, at: time(0))
        let child = store.startSpan("call", context: parent.context, ofKind: .client, at: time(2))
        child.attributes["url.full"] = "http://a/\n\"b\""
        child.attributes["http.response.status_code"] = 503
        child.addEvent(SpanEvent(name: "first byte", at: time(5)))
        child.addLink(SpanLink(context: parent.context, attributes: [:]))
        child.setStatus(.init(code: .error, message: "503"))
        child.end(at: time(12))
        child.end(at: time(99))
        child.operationName = "too late"
        parent.end(at: time(20))

        struct Line: Decodable, Equatable {
            struct Event: Decodable, Equatable { let name: String, milliseconds: Double }
            let trace_id: String, span_id: String, parent_id: String?, name: String, kind: String
            let start_unix_nano: UInt64, milliseconds: Double, is_error: Bool, message: String?
            let attributes: [String: String], events: [Event]
        }
        let texts = lines.withLock { $0 }
        #expect(texts.allSatisfy { !$0.contains("\n") })
        let read = try texts.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        let parentContext = try #require(parent.context.traceContext)
        let childContext = try #require(child.context.traceContext)
        #expect(childContext.traceID == parentContext.traceID && childContext.spanID != parentContext.spanID)
        #expect(
            read == [
                Line(
                    trace_id: parentContext.traceID, span_id: childContext.spanID, parent_id: parentContext.spanID,
                    name: "call", kind: "client", start_unix_nano: 1_700_000_000_002_000_000, milliseconds: 10,
                    is_error: true, message: "503",
                    attributes: ["url.full": "http://a/\n\"b\"", "http.response.status_code": "503"],
                    events: [.init(name: "first byte", milliseconds: 3)]),
                Line(
                    trace_id: parentContext.traceID, span_id: parentContext.spanID, parent_id: nil, name: "GET /a",
                    kind: "server", start_unix_nano: 1_700_000_000_000_000_000, milliseconds: 20, is_error: false,
                    message: nil, attributes: [:], events: []),
            ])
        let json = try #require(store.json(trace: parentContext.traceID))
        #expect(json.contains(childContext.spanID) && store.json() == "[\(json)]")
        #expect(store.json(trace: "0") == nil)
    }

    @Test("A trace goes on from its caller to its servers, recorded only if it is sampled", arguments: [true, false])
    func propagation(sampled: Bool) throws {
        let store = SpanStore()
        let flags = sampled ? "01" : "00"
        let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-\(flags)"
        let span = store.startSpan("a", context: context(from: caller, by: store))
        #expect(span.isRecording == sampled)
        var sent: [String: String] = [:]
        store.inject(span.context, into: &sent, using: Fields())
        let spanID = try #require(span.context.traceContext?.spanID)
        #expect(spanID != "00f067aa0ba902b7")
        #expect(sent == ["traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-\(spanID)-\(flags)"])
        span.end()
        #expect(!span.isRecording)
        #expect(store.traces.flatMap(\.spans).map(\.parentID) == (sampled ? ["00f067aa0ba902b7"] : []))
    }

    @Test("withSpan records the error that it throws")
    func errors() async throws {
        let store = SpanStore()
        await #expect(throws: Failure.self) { try await store.withSpan("a") { _ async throws in throw Failure() } }
        let span = try #require(store.traces.first?.spans.first)
        #expect(span.isError && span.message == "Failure()")
        #expect(span.events.map(\.name) == ["exception"])
        #expect(span.events.first?.attributes == ["exception.type": "Failure", "exception.message": "Failure()"])
    }

    @Test("A call that its program gave up is no error")
    func cancellation() throws {
        let store = SpanStore()
        let span = store.startSpan("a", context: .topLevel)
        span.attributes["error.type"] = "cancelled"
        span.setStatus(.init(code: .error, message: "cancelled"))
        span.end()
        #expect(try #require(store.traces.first).isError == false)
        #expect(store.page().contains("given up by the program") && !store.page().contains("✗"))
    }

    private func end(_ name: String, failed: Bool = false, after milliseconds: UInt64 = 1, in store: SpanStore) {
        let span = store.startSpan(name, context: .topLevel, ofKind: .server, at: time(0))
        if failed { span.setStatus(.init(code: .error)) }
        span.end(at: time(milliseconds))
    }

    @Test("A slow trace stays for longer, and is on the page", arguments: [true, false])
    func slowTrace(failed: Bool) {
        let store = SpanStore(traces: 10)
        end("slow one", failed: failed, after: 800, in: store)
        for number in 0..<100 { end("quick \(number)", failed: failed, in: store) }
        #expect(store.traces.count == 10 && store.page(limit: 2).contains("slow one"))
        #expect(store.page(limit: 2).components(separatedBy: "<b>quick").count - 1 == (failed ? 5 : 3))
    }

    @Test("Healthy traces go before those with errors, which are at most half")
    func traceLimit() {
        let store = SpanStore(traces: 4)
        end("first error", failed: true, in: store)
        for number in 0..<10 { end("healthy \(number)", in: store) }
        #expect(store.traces.map { $0.spans[0].name } == ["first error", "healthy 7", "healthy 8", "healthy 9"])
        for number in 0..<10 { end("error \(number)", failed: true, in: store) }
        #expect(store.traces.map { $0.spans[0].name } == ["healthy 8", "healthy 9", "error 8", "error 9"])
    }

    @Test("Of a trace with too many spans, errors and the last one stay", arguments: [true, false])
    func spanLimit(allFail: Bool) throws {
        let store = SpanStore(spansPerTrace: 2)
        let root = store.startSpan("root", context: .topLevel)
        for number in 0..<4 {
            let span = store.startSpan("\(number)", context: root.context)
            if number == 0 || allFail { span.setStatus(.init(code: .error)) }
            span.end()
        }
        root.end()
        let trace = try #require(store.traces.first)
        #expect(trace.spans.map(\.name) == (allFail ? ["3", "root"] : ["0", "root"]))
        #expect(trace.dropped == 3 && trace.isError)
    }

    @Test("A trace and a span have their bounds")
    func bounds() throws {
        let store = SpanStore(spansPerTrace: 3)
        let root = store.startSpan("root", context: .topLevel)
        for _ in 0..<5 { store.startSpan("child", context: root.context).end() }
        for number in 0..<500 {
            root.attributes["key\(number)"] = String(repeating: "x", count: 5_000)
            root.addEvent(SpanEvent(name: "event"))
            root.addLink(SpanLink(context: root.context, attributes: [:]))
        }
        root.setStatus(.init(code: .error))
        root.end()
        let trace = try #require(store.traces.first)
        #expect(trace.spans.map(\.name) == ["child", "child", "root"] && trace.dropped == 3 && trace.isError)
        #expect(store.page().contains("3 spans more were not kept."))

        let other = SpanStore()
        let span = other.startSpan("a", context: .topLevel)
        span.attributes = root.attributes
        for _ in 0..<500 {
            span.addEvent(SpanEvent(name: "event"))
            span.addLink(SpanLink(context: root.context, attributes: [:]))
        }
        span.end()
        let kept = try #require(other.traces.first?.spans.first)
        #expect(kept.attributes.count == 64 && kept.attributes.values.allSatisfy { $0.count == 1_001 })
        #expect(kept.events.count == 64 && kept.links.count == 16)
    }

    @Test("The bytes of all spans are bounded")
    func byteLimit() throws {
        let store = SpanStore(bytes: 100_000)
        let root = store.startSpan("root", context: .topLevel)
        for number in 0..<400 {
            let span = store.startSpan("\(number)", context: number < 300 ? root.context : .topLevel)
            span.addEvent(SpanEvent(name: "long", attributes: ["text": "\(String(repeating: "é", count: 1_000))"]))
            span.end()
        }
        // 2,000 bytes of text in each, and fewer than 1,000 of its own.
        let spans = store.traces.flatMap(\.spans)
        #expect((33...50).contains(spans.count) && spans.last?.name == "399")
        let tiny = SpanStore(bytes: 1)
        tiny.startSpan("a", context: .topLevel).end()
        #expect(tiny.traces.isEmpty)
    }

    @Test("Threads end spans together")
    func threads() {
        let written = Atomic(0)
        let store = SpanStore(traces: 50) { _ in written.add(1, ordering: .relaxed) }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for number in 0..<50 { end("\(number)", failed: number % 3 == 0, in: store) }
        }
        #expect(written.load(ordering: .relaxed) == 400)
        #expect(store.traces.count == 50)
    }

    @Test("The page has no text of a span as HTML, and errors first")
    func page() throws {
        let store = SpanStore()
        let attack = "<script>alert(\"&\")</script><\u{338}b>"
        let span = store.startSpan(attack, context: .topLevel)
        span.attributes[attack] = attack
        span.addEvent(SpanEvent(name: attack))
        span.setStatus(.init(code: .error, message: attack))
        span.end()
        end("healthy", in: store)
        let page = store.page()
        #expect(!page.contains("<script") && !page.contains("alert(\""))
        #expect(!page.unicodeScalars.contains("\u{338}") || !page.utf8.contains("<\u{338}".utf8))
        #expect(page.contains("&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;"))
        let (error, healthy) = (page.range(of: "&lt;script"), page.range(of: "healthy"))
        #expect(try #require(error).lowerBound < #require(healthy).lowerBound)
    }

    @Test("A bar is where its span was in the trace, and its ticks where its events were")
    func waterfall() {
        let store = SpanStore()
        let root = store.startSpan("root", context: .topLevel, at: time(0))
        let late = store.startSpan("late", context: root.context, at: time(50))
        let early = store.startSpan("early", context: root.context, at: time(25))
        let inner = store.startSpan("inner", context: early.context, at: time(30))
        early.addEvent(SpanEvent(name: "tcp", at: time(35)))
        inner.attributes = ["server.address": "stock"]
        inner.end(at: time(40))
        late.end(at: time(60))
        early.end(at: time(75))
        root.end(at: time(100))
        let rows = Waterfall(store.traces[0].spans).rows
        #expect(rows.map(\.span.name) == ["root", "early", "inner", "late"])
        #expect(rows.map(\.depth) == [0, 1, 2, 1])
        let page = store.page()
        #expect(page.contains(#"<u style="left:25.0%;width:50.0%"></u><i style="left:35.0%" title="tcp 10.0 ms"></i>"#))
        #expect(page.contains("tcp 10.0 ms</small>") && page.contains(">inner → stock</span>"))
        #expect(page.contains("2023-11-14T22:13:20.000Z"))
    }
}
