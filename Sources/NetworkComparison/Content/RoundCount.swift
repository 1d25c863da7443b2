/// A round of an experiment, and the number of the process that carries it in each arm.
public struct ExperimentRound: Hashable, Comparable, Sendable {
    let process: Int32
    let number: Int32

    /// Creates the round with a number, and the number of its process.
    public init(process: Int = 0, number: Int = 0) {
        (self.process, self.number) = (Int32(clamping: process), Int32(clamping: number))
    }

    /// By the numbers of the rounds.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// How often something has been in the rounds of an experiment.
package struct RoundCount: Sendable {
    private(set) var total = 0
    // Most values of an identifier are in one round alone: that one has no array.
    private var first: (round: ExperimentRound, count: Int)?
    private var rest: [(round: ExperimentRound, count: Int)] = []

    /// The rounds in which it has been, in order.
    var rounds: [(round: ExperimentRound, count: Int)] { (first.map { [$0] } ?? []) + rest }

    /// - Parameter round: No earlier than that of the call before.
    mutating func add(_ count: Int, in round: ExperimentRound) {
        guard count > 0 else { return }
        total += count
        guard let first else {
            first = (round, count)
            return
        }
        if rest.isEmpty, first.round == round {
            self.first = (round, first.count + count)
        } else if let last = rest.last, last.round == round {
            rest[rest.count - 1].count += count
        } else {
            rest.append((round, count))
        }
    }

    func adding(_ other: RoundCount) -> RoundCount {
        var sum = self
        sum.add(other)
        return sum
    }

    /// Adds the counts of something else.
    mutating func add(_ other: RoundCount) {
        guard total > 0 else {
            self = other
            return
        }
        let all = (rounds + other.rounds).sorted { $0.round < $1.round }
        self = RoundCount()
        for (round, count) in all { add(count, in: round) }
    }
}
