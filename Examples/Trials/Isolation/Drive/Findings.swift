import Foundation
import Synchronization

/// A fault that a unit showed.
struct Finding: Sendable {
    var steps: [Step]
    /// The description. Its first line is a summary.
    var text: String
    /// Whether the steps ran all at once.
    var isAtOnce = false

    /// The sequence in the form of the command line.
    var command: String { (isAtOnce ? "all: " : "") + steps.text }
    var title: String { String(text.prefix { $0 != "\n" && $0 != ":" }) }
    /// The group of the finding. Findings with one cause mostly share what happened and which lines are new.
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

/// All findings of a run, in groups.
final class Findings: Sendable {
    private let state = Mutex<[String: [Finding]]>([:])

    /// Adds a finding.
    /// - Returns: Whether it is the first one of its group.
    func add(_ finding: Finding) -> Bool {
        state.withLock { groups in
            groups[finding.group, default: []].append(finding)
            return groups[finding.group]?.count == 1
        }
    }

    /// Returns whether this last outcome has ended enough processes already, because each one costs a new process.
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
