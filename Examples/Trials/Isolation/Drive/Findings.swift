import Foundation
import Synchronization

/// Something that is wrong.
struct Finding: Sendable {
    var steps: [Step]
    /// Its first line says in short what it is.
    var text: String

    var title: String { String(text.prefix { $0 != "\n" && $0 != ":" }) }
    /// Findings of one cause mostly have these in common.
    var group: String { title + " | " + steps.suffix(2).map(\.outcome.name).joined(separator: " then ") }
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

    var count: Int { state.withLock { $0.values.reduce(0) { $0 + $1.count } } }
    var groups: [(name: String, findings: [Finding])] {
        state.withLock { groups in groups.map { ($0.key, $0.value) }.sorted { $0.1.count > $1.1.count } }
    }
}
