import Foundation
import Synchronization

/// Something that is wrong.
struct Finding: Sendable {
    var steps: [Step]
    /// Its first line says in short what it is.
    var text: String
    /// Whether the steps ran all at once.
    var isAtOnce = false

    /// As the command line takes it.
    var command: String { (isAtOnce ? "all: " : "") + steps.text }
    var title: String { String(text.prefix { $0 != "\n" && $0 != ":" }) }
    /// Findings of one cause mostly have these in common: what happened, and which lines are new.
    var group: String {
        if isCrash { return "\(title) | the last one's outcome is \(steps.last?.outcome.name ?? "none")" }
        let new = text.split(separator: "\n").filter { $0.hasPrefix("+ ") }.map { $0.dropFirst(2) }
        guard let first = new.first else { return title }
        if new.contains(where: { $0.hasSuffix("forged") }) { return "\(title) | bytes that belong to no request" }
        let line = new.first { $0.hasPrefix("error") } ?? new.first { $0.hasPrefix("> ") && $0.contains(":") } ?? first
        return "\(title) | + \(line.prefix { $0 != ":" && $0 != "/" })"
    }

    var isCrash: Bool { title.hasPrefix("the process") }
}

/// All findings of a run, by groups.
final class Findings: Sendable {
    private let state = Mutex<[String: [Finding]]>([:])

    /// - Returns: Whether it is the first of its group.
    func add(_ finding: Finding) -> Bool {
        state.withLock { groups in
            groups[finding.group, default: []].append(finding)
            return groups[finding.group]?.count == 1
        }
    }

    /// Whether processes have ended often enough by this last outcome: each one costs a new process.
    func isKnown(_ steps: [Step]) -> Bool {
        state.withLock { groups in
            let last = steps.last?.outcome.name
            return groups.values.contains { findings in
                guard let first = findings.first, first.isCrash, findings.count >= 25 else { return false }
                return first.steps.last?.outcome.name == last
            }
        }
    }

    var count: Int { state.withLock { $0.values.reduce(0) { $0 + $1.count } } }
    var groups: [(name: String, findings: [Finding])] {
        state.withLock { groups in groups.map { ($0.key, $0.value) }.sorted { $0.1.count > $1.1.count } }
    }
}
