import CoreMetrics
import Synchronization

/// Metrics that Prometheus reads, in its
/// [text format 0.0.4](https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
///
/// ```swift
/// let metrics = PrometheusMetrics(durationBuckets: NetworkClient.durationBuckets)
/// MetricsSystem.bootstrap(metrics)
/// router.get("metrics") { _, _ in metrics.exposition() }
/// ```
///
/// | swift-metrics | Prometheus | name |
/// | --- | --- | --- |
/// | counter | counter | `networklayer.pool.opened` → `networklayer_pool_opened_total` |
/// | gauge, meter | gauge | `http.client.active_requests` → `http_client_active_requests` |
/// | timer | histogram in seconds | `http.client.request.duration` → `http_client_request_duration_seconds` |
/// | recorder | histogram | `http.client.request.body.size` → `http_client_request_body_size_bytes` |
///
/// A recorder whose label ends in `.size` counts bytes. A dimension becomes a label: `http.request.method` is
/// `http_request_method`. Dimensions whose names are then the same share one label, their values joined by `;`.
public final class PrometheusMetrics: MetricsFactory {
    /// The value of `Content-Type` for ``exposition()``.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    /// The default bounds of sizes: powers of 4 from 100 B, to 100 MB.
    public static let sizeBuckets: [Double] = (0...10).map { 100 * Double(1 << (2 * $0)) }

    private let durationBuckets: [Double]
    private let sizeBuckets: [Double]
    private let maximumSeries: Int
    private let registry = Mutex(Registry())

    /// Creates a backend without metrics.
    /// - Parameters:
    ///   - durationBuckets: The upper bounds of the buckets of timers, in seconds.
    ///   - sizeBuckets: The upper bounds of the buckets of recorders.
    ///   - maximumSeries: The number of combinations of name and labels that are kept; a histogram is one. What comes
    ///     after them is lost, and counted in `observability_series_refused_total`.
    public init(
        durationBuckets: [Double], sizeBuckets: [Double] = PrometheusMetrics.sizeBuckets, maximumSeries: Int = 2_000
    ) {
        self.durationBuckets = durationBuckets.bounds
        self.sizeBuckets = sizeBuckets.bounds
        self.maximumSeries = maximumSeries
    }

    /// Returns all metrics as text, in the order of their names.
    public func exposition() -> String {
        let (families, refused) = registry.withLock { ($0.families, $0.refused) }
        var text = """
            # HELP observability_series_refused_total Series beyond the limit, or of a second kind for one name.
            # TYPE observability_series_refused_total counter
            observability_series_refused_total \(refused)

            """
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.kind)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.write(name, labels, to: &text)
            }
        }
        return text
    }

    /// Returns the counter of a name and labels, which it makes if there is none.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    /// Returns the counter, which may also be one of whole numbers.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    /// Returns the gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    /// Returns the histogram; without aggregation, the gauge of the last value.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) }
        let unit = label.hasSuffix(".size") ? "_bytes" : ""
        return histogram(label, unit: unit, dimensions, sizeBuckets)
    }

    /// Returns the histogram in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, unit: "_seconds", dimensions, durationBuckets)
    }

    /// Removes the counter.
    public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    /// Removes the counter.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }
    /// Removes the gauge.
    public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    /// Removes the histogram or gauge.
    public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    /// Removes the histogram.
    public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}

extension PrometheusMetrics {
    private struct Registry {
        var families: [String: Family] = [:]
        var count = 0
        var refused = 0
    }

    /// The series of one name. Prometheus refuses the whole text if a name has two kinds.
    private struct Family {
        let kind: String
        var series: [String: any Series] = [:]
    }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> CounterSeries {
        series("counter", name(label, suffix: "_total"), Self.labels(dimensions)) { CounterSeries() }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeSeries {
        series("gauge", name(label), Self.labels(dimensions)) { GaugeSeries() }
    }

    private func histogram(
        _ label: String, unit: String, _ dimensions: [(String, String)], _ bounds: [Double]
    ) -> HistogramSeries {
        // `le` is the label of a bucket's bound.
        let dimensions = dimensions.map { ($0 == "le" ? "exported_le" : $0, $1) }
        return series("histogram", name(label, suffix: unit), Self.labels(dimensions)) {
            HistogramSeries(bounds: bounds)
        }
    }

    /// Returns the series of a name and labels: the one that exists, a new one, or an unread one.
    private func series<S: Series>(_ kind: String, _ name: String, _ labels: String, make: () -> S) -> S {
        registry.withLock { registry in
            let family = registry.families[name]
            if let known = family?.series[labels] as? S { return known }
            let new = make()
            guard registry.count < maximumSeries, family == nil || family?.kind == kind else {
                registry.refused += 1
                return new
            }
            registry.families[name, default: Family(kind: kind)].series[labels] = new
            registry.count += 1
            return new
        }
    }

    /// Removes this series, and no later one of the same name and labels.
    private func destroy(_ handler: AnyObject) {
        registry.withLock { registry in
            for (name, family) in registry.families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                registry.families[name]?.series[labels] = nil
                if family.series.count == 1 { registry.families[name] = nil }
                registry.count -= 1
                return
            }
        }
    }

    private func name(_ label: String, suffix: String = "") -> String {
        let name = label.legalName(allowing: ":")
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// Returns `a="1",b="2"`, in the order of the names.
    private static func labels(_ dimensions: [(String, String)]) -> String {
        let values = Dictionary(
            dimensions.sorted { $0 < $1 }.map { ($0.legalName(), $1) }, uniquingKeysWith: { "\($0);\($1)" })
        return values.sorted { $0.key < $1.key }.map { "\($0)=\"\($1.escapedValue)\"" }.joined(separator: ",")
    }
}

extension [Double] {
    /// In order, each once, finite: `+Inf` comes by itself.
    fileprivate var bounds: [Double] { Set(filter(\.isFinite)).sorted() }
}

extension String {
    /// With `_` in place of what a name must not have.
    fileprivate func legalName(allowing other: Character? = nil) -> String {
        let name = String(map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == other ? $0 : "_" })
        return name.first.map { $0.isNumber ? "_" + name : name } ?? "_"
    }

    /// A label's value: backslash, quote and line feed are escaped.
    fileprivate var escapedValue: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
