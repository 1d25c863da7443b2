import Foundation
import Synchronization

/// Runs the plan with several child processes, and reports their findings.
final class Driver: Sendable {
    private let settings: Settings
    private let plan: Plan
    private let pairs: [Plan.Pair]
    private let findings = Findings()
    private let next = Atomic<Int>(0)
    private let skipped = Atomic<Int>(0)
    private let nextSequence = Atomic<Int>(0)
    private let start = Date.now

    init(_ settings: Settings) {
        self.settings = settings
        plan = Plan(settings: settings)
        pairs = plan.pairs()
    }

    private var isOver: Bool { settings.limitSeconds.map { Date.now.timeIntervalSince(start) > $0 } ?? false }

    /// Runs the plan.
    /// - Returns: The exit status.
    func run() -> Int32 {
        Self.say(
            "\(Kind.all.count) kinds of request, \(Outcome.all.count) outcomes, \(Plan.firsts.count) first and "
                + "\(Plan.lasts.count) last steps, \(pairs.count) pairs, seed \(settings.seed)")
        let group = DispatchGroup()
        for _ in 0..<settings.workers {
            group.enter()
            Thread.detachNewThread { [self] in
                serve()
                group.leave()
            }
        }
        group.wait()
        return report()
    }

    private func serve() {
        var child: Child?
        defer { child?.end() }
        while let (steps, isAtOnce) = takeUnit() {
            if findings.isKnown(steps) {
                skipped.add(1, ordering: .relaxed)
                continue
            }
            func found(_ text: String) { note(Finding(steps: steps, text: text, isAtOnce: isAtOnce)) }
            do {
                let running = try child ?? Child(settings)
                child = running
                switch running.run(steps, first: isAtOnce ? -1 : 0) {
                case .done(let texts): texts.forEach(found)
                case .ended(let how): found("the process ended by \(how)")
                case .hung: found("the process hung")
                }
                if !running.isRunning { child = nil }
            } catch {
                return found("the trial itself: \(error)")
            }
        }
    }

    private func takeUnit() -> (steps: [Step], isAtOnce: Bool)? {
        guard !isOver else { return nil }
        let number = next.add(1, ordering: .relaxed).oldValue
        if pairs.indices.contains(number) { return (pairs[number].steps, false) }
        sequencesBegan.withLock { $0 = $0 ?? Date.now }
        guard let began = sequencesBegan.withLock({ $0 }), settings.filter == nil,
            Date.now.timeIntervalSince(began) < settings.sequenceSeconds
        else { return nil }
        return plan.sequence(nextSequence.add(1, ordering: .relaxed).oldValue)
    }

    private let sequencesBegan = Mutex<Date?>(nil)

    /// Not `print`, which buffers: the line must be visible even if the process crashes.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    private func note(_ finding: Finding) {
        guard findings.add(finding) else { return }
        let lines = finding.text.split(separator: "\n").prefix(12).joined(separator: "\n      ")
        Self.say("FOUND \(lines)\n   in \(finding.command)")
    }

    /// Shrinking sequences starts processes and so takes time: it gets two minutes at most.
    private var isOutOfTime: Bool { Date.now.timeIntervalSince(end.withLock { $0 }) > 120 }
    private let end = Mutex(Date.distantFuture)

    private func report() -> Int32 {
        let seconds = Date.now.timeIntervalSince(start)
        end.withLock { $0 = Date.now }
        let report = Report(settings)
        for group in findings.groups { Self.say(report.text(of: group.name, group.findings, isShort: isOutOfTime)) }
        if findings.count > 0 { Self.say("\n==== what these tests need in addition\n\n\(TestPrinter.support)") }
        let left = skipped.load(ordering: .relaxed)
        if left > 0 { Self.say("\n\(left) sequences were not run: their last outcome had already ended 25 processes") }
        let done = min(next.load(ordering: .relaxed), pairs.count)
        Self.say(
            "\nIsolation: \(done) of \(pairs.count) pairs, \(nextSequence.load(ordering: .relaxed)) longer sequences, "
                + "\(Int(seconds)) s, \(findings.count) findings in \(findings.groups.count) groups")
        return findings.count == 0 ? 0 : 1
    }
}
