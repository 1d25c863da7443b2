import Synchronization
import TrialSupport

/// The accounts of a soak: each request must have exactly one outcome.
final class Ledger: Sendable {
    private struct State {
        /// The number of outcomes of each request of the round.
        var round: [Int] = []
        var made = 0
        var settled = 0
        var doubled = 0
        var missing = 0
        var kinds: [String: Int] = [:]
        var damages: [String] = []
    }

    private let state = Mutex(State())

    /// Opens the accounts of a round.
    func begin(_ count: Int) {
        state.withLock { state in
            state.round = Array(repeating: 0, count: count)
            state.made += count
        }
    }

    /// Records the outcome of a request of the round.
    func settle(_ number: Int, _ kind: String) {
        state.withLock { state in
            state.round[number] += 1
            state.kinds[kind, default: 0] += 1
        }
    }

    /// Records a body that was reported as whole but is not.
    func damage(_ words: String) { state.withLock { $0.damages.append(words) } }

    /// The requests without an outcome so far.
    var open: [Int] { state.withLock { state in state.round.indices.filter { state.round[$0] == 0 } } }

    /// Closes the accounts of a round.
    func end() {
        state.withLock { state in
            state.settled += state.round.count { $0 == 1 }
            state.doubled += state.round.count { $0 > 1 }
            state.missing += state.round.count { $0 == 0 }
            state.round = []
        }
    }

    var made: Int { state.withLock(\.made) }
    var settled: Int { state.withLock(\.settled) }

    /// The accounts as tables.
    var text: String {
        let state = state.withLock { $0 }
        var totals = TextTable("requests", "with one outcome", "with several", "with none", "damaged")
        totals.add(
            "\(state.made)", "\(state.settled)", "\(state.doubled)", "\(state.missing)", "\(state.damages.count)"
        )
        var kinds = TextTable("outcome", "requests")
        for (kind, count) in state.kinds.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            kinds.add(kind, "\(count)")
        }
        return totals.text + "\n\n" + kinds.text
    }

    /// The faults in the accounts.
    var faults: [String] {
        let state = state.withLock { $0 }
        var faults = state.damages.prefix(20).map { "damaged: \($0)" }
        if state.settled != state.made {
            faults.append("\(state.made) requests were made, and \(state.settled) have exactly one outcome")
        }
        let outcomes = state.kinds.values.reduce(0, +)
        if outcomes != state.made {
            faults.append("\(state.made) requests were made, and there are \(outcomes) outcomes")
        }
        if state.kinds["200, whole", default: 0] == 0 { faults.append("no request got a whole response") }
        if state.kinds.count < 5 { faults.append("too few kinds of faults occurred: \(state.kinds.keys.sorted())") }
        return faults
    }
}
