import Foundation
import NetworkLayer
import NetworkRecording

/// The exchanges of a recording on one axis of time: figures, a bar and the request.
enum Waterfall {
    /// A step of an exchange by its mark in the bar, in milliseconds from the exchange's start.
    private typealias Step = (mark: Character, start: Double, end: Double)

    private static let width = 40

    static func lines(_ entries: [Recording.Entry]) -> [String] {
        let first = entries.first?.started ?? Date()
        let rows = entries.map { entry in
            (entry, entry.started.timeIntervalSince(first) * 1000, max(0, entry.metrics.total / .milliseconds(1)))
        }
        let duration = max(rows.map { $0.1 + $0.2 }.max() ?? 0, 0.001)
        var table = Table([
            ("start", .right), ("time", .right), ("status", .left), ("bytes", .right), ("", .left), ("request", .left),
        ])
        for (entry, start, total) in rows {
            let failure = entry.failure.map { TerminalText.line($0.code.rawValue) }
            var bar = Array(repeating: Character(" "), count: width)
            for step in steps(of: entry.metrics, to: total) {
                func cell(_ time: Double) -> Double { (start + time) / duration * Double(width) }
                let from = min(Int(cell(step.start)), width - 1)
                let to = min(max(from, Int(cell(step.end).rounded(.up)) - 1), width - 1)
                for cell in from...to { bar[cell] = step.mark }
            }
            table.add([
                time(start), time(total), entry.response.map { "\($0.status)" } ?? failure ?? "-",
                entry.response.map { "\($0.body.count)" } ?? "-", "|\(String(bar))|", "\(entry.request)",
            ])
        }
        return table.lines + ["\(rows.count) exchanges in \(time(duration))"]
    }

    /// Returns the steps, which end no later than the exchange.
    private static func steps(of metrics: TransportMetrics, to end: Double) -> [Step] {
        guard let firstByte = metrics.firstByte else { return [("#", 0, end)] }
        var (steps, place) = ([Step](), 0.0)
        func add(_ mark: Character, to next: Double) {
            let next = min(max(place, next), end)
            if next > place { steps.append((mark, place, next)) }
            place = next
        }
        for (mark, time) in zip(".dct", [metrics.queued, metrics.nameLookup, metrics.connect, metrics.tls]) {
            add(mark, to: place + (time ?? .zero) / .milliseconds(1))
        }
        add("-", to: firstByte / .milliseconds(1))
        add("=", to: end)
        return steps
    }

    private static func time(_ milliseconds: Double) -> String {
        milliseconds < 1000
            ? String(format: "%.1f ms", milliseconds) : String(format: "%.2f s", milliseconds / 1000)
    }
}
