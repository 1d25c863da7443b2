import Foundation
import NetworkLayer
import NetworkRecording

/// The exchanges of a recording on one axis of time.
struct Waterfall {
    /// A step of an exchange, in milliseconds from the first exchange's start.
    struct Step {
        let kind: Kind
        let start: Double
        let end: Double

        /// The kind, by its mark in the bar.
        enum Kind: Character {
            case queue = "."
            case lookUp = "d"
            case connect = "c"
            case tls = "t"
            case wait = "-"
            case receive = "="
            case unknown = "#"
        }
    }

    struct Row {
        let name: String
        let outcome: String
        let bytes: String
        let start: Double
        let total: Double
        let steps: [Step]
    }

    let rows: [Row]
    /// The time from the first start to the last end, in milliseconds; above 0.
    let duration: Double

    /// - Parameter entries: The exchanges in the order in which they began.
    init(_ entries: [Recording.Entry]) {
        let first = entries.first?.started ?? Date()
        rows = entries.map { entry in
            Self.row(entry, start: entry.started.timeIntervalSince(first) * 1000)
        }
        duration = max(rows.map { $0.start + $0.total }.max() ?? 0, 0.001)
    }

    private static func row(_ entry: Recording.Entry, start: Double) -> Row {
        let metrics = entry.metrics
        let total = max(0, metrics.total / .milliseconds(1))
        let body = entry.response?.body
        return Row(
            name: "\(entry.request)",
            outcome: entry.response.map { "\($0.status)" }
                ?? "\(entry.failure.map { TerminalText.line($0.code.rawValue) } ?? "-")",
            bytes: body.map { "\($0.count)" } ?? "-", start: start, total: total,
            steps: steps(of: metrics, from: start, to: start + total))
    }

    /// Returns the steps, which end no later than the exchange.
    private static func steps(of metrics: TransportMetrics, from start: Double, to end: Double) -> [Step] {
        guard let firstByte = metrics.firstByte else { return [Step(kind: .unknown, start: start, end: end)] }
        var (steps, place) = ([Step](), start)
        func add(_ kind: Step.Kind, to next: Double) {
            let next = min(max(place, next), end)
            if next > place { steps.append(Step(kind: kind, start: place, end: next)) }
            place = next
        }
        let parts: [(Step.Kind, Duration?)] = [
            (.queue, metrics.queued), (.lookUp, metrics.nameLookup), (.connect, metrics.connect), (.tls, metrics.tls),
        ]
        for (kind, time) in parts { add(kind, to: place + (time ?? .zero) / .milliseconds(1)) }
        add(.wait, to: start + firstByte / .milliseconds(1))
        add(.receive, to: end)
        return steps
    }

    private static let width = 40

    /// The lines: figures, a bar and the request.
    var lines: [String] {
        var table = Table([
            ("start", .right), ("time", .right), ("status", .left), ("bytes", .right), ("", .left), ("request", .left),
        ])
        for row in rows {
            table.add([
                Self.time(row.start), Self.time(row.total), row.outcome, row.bytes, "|\(bar(of: row))|", row.name,
            ])
        }
        return table.lines + ["\(rows.count) exchanges in \(Self.time(duration))"]
    }

    private func bar(of row: Row) -> String {
        var cells = Array(repeating: Character(" "), count: Self.width)
        for step in row.steps {
            let first = min(Int(step.start / duration * Double(Self.width)), Self.width - 1)
            let last = min(max(first, Int((step.end / duration * Double(Self.width)).rounded(.up)) - 1), Self.width - 1)
            for cell in first...last { cells[cell] = step.kind.rawValue }
        }
        return String(cells)
    }

    private static func time(_ milliseconds: Double) -> String {
        milliseconds < 1000
            ? String(format: "%.1f ms", milliseconds) : String(format: "%.2f s", milliseconds / 1000)
    }
}
