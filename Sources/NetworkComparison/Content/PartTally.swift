/// The values of one part by round. Of thousands of values the first ones are told apart, and others by their kind.
package struct PartTally: Sendable {
    /// The most values that are told apart.
    static let maximumValues = 2_000

    private(set) var counts: [PartValue: RoundCount] = [:]
    /// How many responses were counted.
    private(set) var total = 0

    init() {}

    /// Creates the tally of responses with one value.
    init(_ value: PartValue, _ count: RoundCount) { self.init(count.total > 0 ? [value: count] : [:]) }

    /// Creates the tally of some counts, however many there are.
    private init(_ counts: [PartValue: RoundCount]) {
        self.counts = counts
        total = counts.values.reduce(0) { $0 + $1.total }
    }

    mutating func add(_ value: PartValue, count: Int = 1, in round: ExperimentRound = ExperimentRound()) {
        guard count > 0 else { return }
        total += count
        let hasRoom = counts.count < Self.maximumValues || counts[value] != nil
        let value = hasRoom ? value : PartValue("one of many other values", kind: value.kind)
        counts[value, default: RoundCount()].add(count, in: round)
    }

    /// The tally of the kinds of values alone.
    var kinds: PartTally {
        let byKind = Dictionary(grouping: counts) { $0.key.kind }
        return PartTally(
            Dictionary(
                uniqueKeysWithValues: byKind.map { (PartValue("", kind: $0), RoundCount(of: $1.map(\.value))) }))
    }

    /// The share of responses that have the part.
    var presentShare: Double {
        let absent = counts.reduce(0) { $0 + ($1.key.kind == PartValue.absent.kind ? $1.value.total : 0) }
        return total > 0 ? 1 - Double(absent) / Double(total) : 0
    }

    /// Adds the values of another tally.
    func adding(_ other: PartTally) -> PartTally {
        PartTally(counts.merging(other.counts) { RoundCount(of: [$0, $1]) })
    }

    /// Returns how many responses had a value.
    func count(of value: PartValue) -> Int { counts[value]?.total ?? 0 }

    /// The value of all responses, if they have the same one.
    var onlyValue: PartValue? { counts.count == 1 ? counts.first?.key : nil }

    /// Returns the share of responses by which two tallies differ (the total variation distance), from 0 to 1.
    func distance(to other: PartTally) -> Double {
        let (own, foreign) = (Double(total), Double(other.total))
        guard own > 0, foreign > 0 else { return own == foreign ? 0 : 1 }
        var sum = 0.0
        for value in Set(counts.keys).union(other.counts.keys) {
            sum += abs(Double(count(of: value)) / own - Double(other.count(of: value)) / foreign)
        }
        return sum / 2
    }

    /// Returns the distance of another number of responses that chance allows: four standard errors.
    func chance(in number: Int) -> Double {
        let all = Double(total)
        guard all > 0, number > 0 else { return 1 }
        let spread = 1 / all + 1 / Double(number)
        var errors = 0.0
        for count in counts.values.map(\.total) {
            let share = Double(count) / all
            errors += (share * (1 - share) * spread).squareRoot()
        }
        return 2 * errors + 1 / Double(number)
    }

    /// Returns the values of another tally that are more frequent there.
    func valuesMoreFrequent(in other: PartTally) -> Set<PartValue> {
        let (own, foreign) = (Double(max(1, total)), Double(max(1, other.total)))
        return Set(other.counts.filter { Double($1.total) / foreign > Double(count(of: $0)) / own }.keys)
    }

    /// Returns, for each part of the experiment that both tallies have, by how much the share of some values is larger
    /// in the other one. A part is a process, whose connections may lead to one of several servers for as long as it
    /// lives; with too few processes, a round.
    func differences(to other: PartTally, in values: Set<PartValue>) -> [Double] {
        let processes = differences(to: other, in: values, by: \.process)
        return processes.count < ContentComparison.minimumProcesses
            ? differences(to: other, in: values, by: \.number) : processes
    }

    private func differences(
        to other: PartTally, in values: Set<PartValue>, by part: KeyPath<ExperimentRound, Int32>
    ) -> [Double] {
        let (own, foreign) = (shares(of: values, by: part), other.shares(of: values, by: part))
        return foreign.sorted { $0.key < $1.key }.compactMap { part, share in own[part].map { share - $0 } }
    }

    /// Returns the share of responses with one of some values in each part of the experiment.
    private func shares(of values: Set<PartValue>, by part: KeyPath<ExperimentRound, Int32>) -> [Int32: Double] {
        var (sizes, found) = ([Int32: Int](), [Int32: Int]())
        for (value, count) in counts {
            let isFound = values.contains(value)
            for (round, count) in count.rounds {
                sizes[round[keyPath: part], default: 0] += count
                if isFound { found[round[keyPath: part], default: 0] += count }
            }
        }
        return sizes.reduce(into: [:]) { $0[$1.key] = Double(found[$1.key] ?? 0) / Double($1.value) }
    }

    /// Returns how many responses have one of some values.
    func count(of values: Set<PartValue>) -> Int { values.reduce(0) { $0 + count(of: $1) } }

    /// Returns the value that is more frequent here than in another tally by the largest share.
    func mostTypical(against other: PartTally) -> PartValue? {
        let (own, foreign) = (Double(max(1, total)), Double(max(1, other.total)))
        func excess(_ value: PartValue) -> Double {
            Double(count(of: value)) / own - Double(other.count(of: value)) / foreign
        }
        return counts.keys.max { (excess($0), $1.text) < (excess($1), $0.text) }
    }
}

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
    /// The rounds in which it has been, in order.
    private(set) var rounds: [(round: ExperimentRound, count: Int)] = []

    /// - Parameter round: No earlier than that of the call before.
    mutating func add(_ count: Int, in round: ExperimentRound) {
        guard count > 0 else { return }
        total += count
        if rounds.last?.round == round {
            rounds[rounds.count - 1].count += count
        } else {
            rounds.append((round, count))
        }
    }

    init() {}

    /// Creates the sum of some counts.
    init(of parts: [RoundCount]) {
        let all = parts.flatMap(\.rounds).sorted { $0.round < $1.round }
        for (round, count) in all { add(count, in: round) }
    }
}
