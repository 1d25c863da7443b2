/// The values that one part has had, and how often, by round.
package struct PartTally: Sendable {
    /// The most values that are told apart.
    static let maximumValues = 2_000

    private(set) var counts: [PartValue: RoundCount] = [:]
    /// How many responses had another value than those in ``counts``.
    private(set) var others = RoundCount()
    /// How many responses there are.
    private(set) var total = 0

    init() {}

    /// Creates the tally of responses with one value.
    init(_ value: PartValue, _ count: RoundCount) {
        guard count.total > 0 else { return }
        (counts, total) = ([value: count], count.total)
    }

    mutating func add(_ value: PartValue, count: Int = 1, in round: ExperimentRound = ExperimentRound()) {
        total += count
        change(value) { $0.add(count, in: round) }
    }

    private mutating func add(_ value: PartValue, _ count: RoundCount) {
        total += count.total
        change(value) { $0.add(count) }
    }

    /// Changes the count of a value, or of the other ones if there is no room for the value.
    private mutating func change(_ value: PartValue, by change: (inout RoundCount) -> Void) {
        if counts[value] != nil || counts.count < Self.maximumValues {
            change(&counts[value, default: RoundCount()])
        } else {
            change(&others)
        }
    }

    /// Adds the values of another tally.
    func adding(_ other: PartTally) -> PartTally {
        var sum = self
        for (value, count) in other.counts { sum.add(value, count) }
        sum.others.add(other.others)
        sum.total += other.others.total
        return sum
    }

    /// Returns how many responses had a value.
    func count(of value: PartValue) -> Int { counts[value]?.total ?? 0 }

    /// The value of all responses, if they have the same one.
    var onlyValue: PartValue? { counts.count == 1 && others.total == 0 ? counts.first?.key : nil }

    /// Returns the tally of the kinds of values alone.
    var kinds: PartTally {
        var kinds = PartTally()
        for (value, count) in counts { kinds.add(PartValue("", kind: value.kind), count) }
        kinds.others = others
        kinds.total += others.total
        return kinds
    }

    /// Returns the share of responses by which two tallies differ (the total variation distance), from 0 to 1.
    func distance(to other: PartTally) -> Double {
        let (own, foreign) = (Double(total), Double(other.total))
        guard own > 0, foreign > 0 else { return own == foreign ? 0 : 1 }
        var sum = abs(Double(others.total) / own - Double(other.others.total) / foreign)
        for value in Set(counts.keys).union(other.counts.keys) {
            sum += abs(Double(count(of: value)) / own - Double(other.count(of: value)) / foreign)
        }
        return sum / 2
    }

    /// Returns the distance that another number of responses with the same chances of each value may have: four
    /// standard errors.
    func chance(in number: Int) -> Double {
        let all = Double(total)
        guard all > 0, number > 0 else { return 1 }
        let spread = 1 / all + 1 / Double(number)
        var errors = 0.0
        for count in counts.values.map(\.total) + [others.total] {
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
        return processes.count < PairedComparison.minimumProcesses
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
        for (round, count) in others.rounds { sizes[round[keyPath: part], default: 0] += count }
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
