import CoreMetrics
import Dispatch
import Testing

@testable import Observability

@Suite("The metrics for Prometheus") struct PrometheusMetricsTests {
    private func lines(_ metrics: PrometheusMetrics) -> [String] {
        let lines = metrics.exposition().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.last == "", "The text ends with a line feed.")
        return lines.dropLast().filter { !$0.contains("observability_series_refused") }
    }

    @Test("Each kind has its type, its unit and its lines")
    func kinds() {
        let metrics = PrometheusMetrics(durationBuckets: [0.1, 1], sizeBuckets: [100, 400])
        Counter(label: "pool.opened", dimensions: [("origin", "a")], factory: metrics).increment(by: 3)
        FloatingPointCounter(label: "work_total", factory: metrics).increment(by: 0.5)
        Meter(label: "active", factory: metrics).set(2)
        Gauge(label: "level", factory: metrics).record(-1.5)
        let timer = Timer(label: "request.duration", factory: metrics)
        for milliseconds in [50, 100, 101, 2_000] { timer.recordMilliseconds(milliseconds) }
        Recorder(label: "body.size", dimensions: [("a", "b")], factory: metrics).record(400)
        #expect(
            lines(metrics) == [
                "# TYPE active gauge", "active 2",
                "# TYPE body_size_bytes histogram",
                #"body_size_bytes_bucket{a="b",le="100"} 0"#, #"body_size_bytes_bucket{a="b",le="400"} 1"#,
                #"body_size_bytes_bucket{a="b",le="+Inf"} 1"#,
                #"body_size_bytes_sum{a="b"} 400"#, #"body_size_bytes_count{a="b"} 1"#,
                "# TYPE level gauge", "level -1.5",
                "# TYPE pool_opened_total counter", #"pool_opened_total{origin="a"} 3"#,
                "# TYPE request_duration_seconds histogram",
                #"request_duration_seconds_bucket{le="0.1"} 2"#, #"request_duration_seconds_bucket{le="1"} 3"#,
                #"request_duration_seconds_bucket{le="+Inf"} 4"#,
                "request_duration_seconds_sum 2.251", "request_duration_seconds_count 4",
                "# TYPE work_total counter", "work_total 0.5",
            ])
    }

    @Test(
        "Names and values are legal",
        arguments: [
            ("http.client-ü", [("http.request.method", "GET")], #"http_client___total{http_request_method="GET"} 1"#),
            ("2xx", [("1", "")], #"_2xx_total{_1=""} 1"#),
            ("a:b", [("a:b", "c")], #"a:b_total{a_b="c"} 1"#),
            ("n", [("v", "a\\b\"c\nd\u{e9}")], #"n_total{v="a\\b\"c\ndé"} 1"#),
            ("n", [("z", "1"), ("a", "2")], #"n_total{a="2",z="1"} 1"#),
            ("n", [("a_b", "2"), ("a.b", "1")], #"n_total{a_b="1;2"} 1"#),
        ])
    func names(label: String, dimensions: [(String, String)], line: String) {
        let metrics = PrometheusMetrics(durationBuckets: [])
        Counter(label: label, dimensions: dimensions, factory: metrics).increment()
        #expect(lines(metrics).last == line)
    }

    @Test("A dimension le and the bounds of the buckets are two labels")
    func bounds() {
        let metrics = PrometheusMetrics(durationBuckets: [.infinity, 1, 1])
        Timer(label: "t", dimensions: [("le", "x")], factory: metrics).recordSeconds(1)
        #expect(
            lines(metrics)[1...2] == [
                #"t_seconds_bucket{exported_le="x",le="1"} 1"#, #"t_seconds_bucket{exported_le="x",le="+Inf"} 1"#,
            ])
    }

    @Test("The same label and dimensions are one series, until it is destroyed")
    func identity() {
        let metrics = PrometheusMetrics(durationBuckets: [])
        let first = Counter(label: "n", dimensions: [("a", "1"), ("b", "2")], factory: metrics)
        let second = Counter(label: "n", dimensions: [("b", "2"), ("a", "1")], factory: metrics)
        first.increment(by: 1)
        second.increment(by: 2)
        #expect(lines(metrics).last == #"n_total{a="1",b="2"} 3"#)
        first.destroy()
        #expect(lines(metrics).isEmpty, "The name goes with its last series.")
        let third = Counter(label: "n", dimensions: [("a", "1"), ("b", "2")], factory: metrics)
        third.increment(by: 5)
        second.destroy()
        #expect(lines(metrics).last == #"n_total{a="1",b="2"} 5"#, "The series is a new one.")
    }

    @Test("Series beyond the limit, and those of a second kind, are refused and counted")
    func limit() {
        let metrics = PrometheusMetrics(durationBuckets: [], maximumSeries: 2)
        let counters = (0..<5).map { Counter(label: "n", dimensions: [("id", "\($0)")], factory: metrics) }
        for counter in counters { counter.increment() }
        #expect(lines(metrics) == ["# TYPE n_total counter", #"n_total{id="0"} 1"#, #"n_total{id="1"} 1"#])
        #expect(metrics.exposition().contains("\nobservability_series_refused_total 3\n"))
        counters[0].destroy()
        Meter(label: "n_total", factory: metrics).set(7)
        #expect(lines(metrics) == ["# TYPE n_total counter", #"n_total{id="1"} 1"#])
        #expect(metrics.exposition().contains("\nobservability_series_refused_total 4\n"))
    }

    @Test("What threads record together is all there")
    func threads() {
        let metrics = PrometheusMetrics(durationBuckets: [1])
        DispatchQueue.concurrentPerform(iterations: 16) { thread in
            for round in 0..<1_000 {
                Counter(label: "n", dimensions: [("id", "\(round % 10)")], factory: metrics).increment()
                Timer(label: "t", factory: metrics).recordSeconds(thread % 2 == 0 ? 1 : 2)
                Meter(label: "m", factory: metrics).increment()
            }
        }
        let lines = lines(metrics)
        #expect(lines.filter { $0.hasPrefix("n_total{") }.allSatisfy { $0.hasSuffix(" 1600") })
        #expect(lines.filter { $0.hasPrefix("n_total{") }.count == 10)
        #expect(lines.contains(#"t_seconds_bucket{le="1"} 8000"#) && lines.contains("t_seconds_count 16000"))
        #expect(lines.contains("m 16000"))
    }

    @Test("A counter does not fall, and a sum stays a number")
    func oddValues() {
        let metrics = PrometheusMetrics(durationBuckets: [])
        let counter = FloatingPointCounter(label: "n", factory: metrics)
        for amount in [2, -1, .nan, .infinity] as [Double] { counter.increment(by: amount) }
        let recorder = Recorder(label: "r", factory: metrics)
        for value in [.nan, 1] as [Double] { recorder.record(value) }
        #expect(lines(metrics).contains("n_total 2"))
        #expect(lines(metrics).contains("r_sum 1"))
        Meter(label: "m", factory: metrics).set(-Double.infinity)
        #expect(lines(metrics).contains("m -Inf"))
    }
}
