import CoreMetrics
import Synchronization

/// The numbers of one name with one set of labels. Each has a lock of its own: threads that record different series do
/// not wait for each other.
protocol Series: AnyObject, Sendable {
    /// Appends the lines.
    /// - Parameters:
    ///   - name: The name of the family.
    ///   - labels: `a="1",b="2"`, or nothing.
    func write(_ name: String, _ labels: String, to text: inout String)
}

/// A number that only grows.
final class CounterSeries: Series, CounterHandler, FloatingPointCounterHandler {
    private let value = Mutex(0.0)

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func increment(by amount: Double) {
        // To Prometheus, a counter that falls has started again.
        guard amount > 0, amount.isFinite else { return }
        value.withLock { $0 += amount }
    }

    func reset() { value.withLock { $0 = 0 } }

    func write(_ name: String, _ labels: String, to text: inout String) {
        text.append(name, labels, value.withLock { $0 })
    }
}

/// A number that rises and falls.
final class GaugeSeries: Series, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    func write(_ name: String, _ labels: String, to text: inout String) {
        text.append(name, labels, value.withLock { $0 })
    }
}

/// How many values were at most so large, and their sum.
final class HistogramSeries: Series, RecorderHandler, TimerHandler {
    private struct State {
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        // The last one is for what is beyond all bounds.
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        // The sum would stay NaN.
        guard !value.isNaN else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock {
            $0.counts[bucket] += 1
            $0.sum += value
        }
    }

    func write(_ name: String, _ labels: String, to text: inout String) {
        let state = state.withLock { $0 }
        let prefix = labels.isEmpty ? "" : labels + ","
        var count = 0
        for (bound, number) in zip(bounds + [.infinity], state.counts) {
            count += number
            text.append("\(name)_bucket", "\(prefix)le=\"\(bound.exposed)\"", Double(count))
        }
        text.append("\(name)_sum", labels, state.sum)
        text.append("\(name)_count", labels, Double(count))
    }
}

extension String {
    fileprivate mutating func append(_ name: String, _ labels: String, _ value: Double) {
        append(labels.isEmpty ? "\(name) \(value.exposed)\n" : "\(name){\(labels)} \(value.exposed)\n")
    }
}

extension Double {
    /// The number in the text format: `3`, `0.25`, `+Inf`, `NaN`.
    fileprivate var exposed: String {
        if isNaN { return "NaN" }
        if isInfinite { return self > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: self).map { "\($0)" } ?? "\(self)"
    }
}
