import Foundation
import NetworkComparison
import NetworkLayer
import Synchronization

/// Shows a comparison as it runs: on a terminal a few lines that are drawn again and again, elsewhere one line now and
/// then.
final class ComparisonMeter: Sendable {
    private struct State {
        var next: ContinuousClock.Instant
        /// The lines on the terminal.
        var lines = 0
    }

    private let design: ExperimentDesign
    private let title: String
    private let output: OutputWriter
    private let terminal: Descriptor?
    private let start = ContinuousClock.now
    private let state: Guarded<State>

    /// The time between two drawings on a terminal, and between two lines elsewhere.
    private static let (drawingPause, linePause) = (Duration.milliseconds(100), Duration.seconds(10))
    /// The latest blocks of an arm that its figures are those of.
    private static let latestBlocks = 5
    /// The rounds whose medians are drawn.
    private static let drawnRounds = 30

    init(_ design: ExperimentDesign, _ urls: [String]) {
        (self.design, title) = (design, urls.count == 1 ? urls[0] : "\(urls.count) requests")
        output = .standardError
        let isPlain = ProcessInfo.processInfo.environment["TERM"] == "dumb" || !Descriptor.standardError.isTerminal
        terminal = isPlain ? nil : .standardError
        state = Guarded(State(next: isPlain ? start + Self.linePause : start))
    }

    /// Shows the figures of the arms, unless it is too early.
    /// - Parameter rounds: The rounds that are over.
    func show(_ arms: [Arm], rounds: Int) {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            guard now >= state.next else { return false }
            state.next = now + (terminal == nil ? Self.linePause : Self.drawingPause)
            return true
        }
        guard isDue else { return }
        let figures = LiveFigures(arms.filter { !$0.isCopy }, drawn: Self.drawnRounds, latest: Self.latestBlocks)
        guard let terminal else {
            output.post(figures.line(round: rounds + 1, of: design.rounds) + "\n")
            return
        }
        let head = Self.head(title, done: share(of: rounds, at: now), after: now - start)
        let width = terminal.columns ?? 80
        let lines = (head + figures.lines).map { TerminalText.visible($0).prefix(width - 1) + Self.endOfLine }
        state.withLock { state in
            output.post(Self.up(state.lines) + lines.joined())
            state.lines = lines.count
        }
    }

    /// Erases what is shown.
    func clear() {
        state.withLock { state in
            if state.lines > 0 { output.post(Self.up(state.lines) + Self.eraseBelow) }
            state.lines = 0
        }
    }

    /// Returns how much of the comparison is done, from 0 to 1. One that ends by its precision may end before.
    private func share(of rounds: Int, at now: ContinuousClock.Instant) -> Double {
        let time = design.time.map { (now - start) / $0 } ?? 0
        return min(1, max(Double(rounds) / Double(design.rounds), time))
    }

    /// Returns the lines above those of the arms.
    static func head(_ title: String, done share: Double, after elapsed: Duration) -> [String] {
        let width = 30
        let full = Int((share * Double(width)).rounded())
        let bar = String(repeating: "━", count: full) + String(repeating: "┄", count: width - full)
        let left = share > 0.05 ? ", some \((elapsed / share * (1 - share)).shortText) left" : ""
        return [title, "\(bar) \(Int(share * 100)) %, \(elapsed.shortText)\(left)"]
    }

    // ECMA-48: cursor up, erase to the end of the line, erase to the end of the page.
    private static func up(_ lines: Int) -> String { "\r" + (lines > 0 ? "\u{1B}[\(lines)A" : "") }
    private static let endOfLine = "\u{1B}[K\n"
    private static let eraseBelow = "\u{1B}[J"
}

/// The figures of arms in the middle of a comparison.
struct LiveFigures {
    private struct Row {
        var name: String
        var cells: [String]
        /// The medians of the latest rounds.
        var medians: [Double]
        var end: String?
    }

    private let rows: [Row]

    /// - Parameters:
    ///   - drawn: The number of rounds whose medians are drawn.
    ///   - latest: The number of blocks that the figures are those of.
    init(_ arms: [Arm], drawn: Int, latest: Int) {
        rows = arms.map { arm in
            let values = BlockFigures(arm.figures.flatMap { $0.blocks.suffix(latest) }).values
            func cell(_ metric: Metric, _ text: (Double) -> String) -> String { values[metric].map(text) ?? "-" }
            let errors = ArmSummary.errors(arm.figures).values.reduce(0, +)
            return Row(
                name: arm.name,
                cells: [
                    cell(.p50, ComparisonText.time), cell(.p95, ComparisonText.time),
                    cell(.rate) { "\(Int($0.rounded()))/s" }, cell(.cpu) { "\(Int($0.rounded())) µs" },
                    "\((arm.figures.map(\.peakResidentKB).max() ?? 0) / 1024) MB", "\(errors)",
                ],
                // One URL stands for all: the medians of several have no common scale.
                medians: arm.figures[0].blocks.suffix(drawn).map { BlockFigures([$0]).values[.p50] ?? .nan },
                end: arm.figures.lazy.compactMap(\.ended).first)
        }
    }

    /// The figures as a table, with the medians drawn on one scale.
    var lines: [String] {
        let titles = ["p50", "p95", "req/s", "CPU/req", "memory", "errors"]
        let highest = rows.flatMap(\.medians).filter(\.isFinite).max() ?? 0
        var table = Table([("arm", .left)] + titles.map { ($0, .right) } + [("median, round by round", .left)])
        for row in rows {
            let drawing = row.end ?? Self.drawing(row.medians, highest: highest)
            table.add([row.name] + row.cells + [drawing])
        }
        return table.lines
    }

    /// Returns the figures as one line.
    func line(round: Int, of rounds: Int) -> String {
        let arms = rows.map { "\($0.name) \($0.end ?? "\($0.cells[0]), \($0.cells[2])")" }.joined(separator: "; ")
        return "round \(round) of \(rounds): \(TerminalText.visible(arms))"
    }

    /// Returns values as a row of bars.
    static func drawing(_ values: [Double], highest: Double) -> String {
        let bars = Array("▁▂▃▄▅▆▇█")
        return String(
            values.map { value in
                guard value.isFinite, highest > 0 else { return " " }
                return bars[min(bars.count - 1, Int(value / highest * Double(bars.count)))]
            })
    }
}
