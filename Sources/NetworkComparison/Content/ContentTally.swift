import Foundation

/// The values that one part has had, and how often.
package struct PartTally: Sendable {
    /// The most values that are told apart.
    static let maximumValues = 2_000

    private(set) var counts: [PartValue: Int] = [:]
    /// How many responses had another value than those in ``counts``.
    private(set) var others = 0

    init() {}

    mutating func add(_ value: PartValue, count: Int = 1) {
        if counts[value] != nil || counts.count < Self.maximumValues {
            counts[value, default: 0] += count
        } else {
            others += count
        }
    }

    /// Adds the values of another tally.
    func adding(_ other: PartTally) -> PartTally {
        var sum = self
        for (value, count) in other.counts { sum.add(value, count: count) }
        sum.others += other.others
        return sum
    }

    var total: Int { counts.values.reduce(others, +) }

    /// The value of all responses, if they have the same one.
    var onlyValue: PartValue? { counts.count == 1 && others == 0 ? counts.first?.key : nil }

    /// Returns the tally of the kinds of values alone.
    var kinds: PartTally {
        var kinds = PartTally()
        for (value, count) in counts { kinds.add(PartValue("", kind: value.kind), count: count) }
        kinds.others = others
        return kinds
    }

    /// Returns the share of responses by which two tallies differ (the total variation distance), from 0 to 1.
    func distance(to other: PartTally) -> Double {
        let (own, foreign) = (Double(total), Double(other.total))
        guard own > 0, foreign > 0 else { return own == foreign ? 0 : 1 }
        var sum = abs(Double(others) / own - Double(other.others) / foreign)
        for value in Set(counts.keys).union(other.counts.keys) {
            sum += abs(Double(counts[value] ?? 0) / own - Double(other.counts[value] ?? 0) / foreign)
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
        for count in Array(counts.values) + [others] {
            let share = Double(count) / all
            errors += (share * (1 - share) * spread).squareRoot()
        }
        return 2 * errors + 1 / Double(number)
    }

    /// Returns how many responses have a value that another tally lacks.
    func count(notIn other: PartTally) -> Int {
        counts.reduce(others) { $0 + (other.counts[$1.key] == nil ? $1.value : 0) }
    }

    /// Returns the value that is more frequent here than in another tally by the largest share.
    func mostTypical(against other: PartTally) -> PartValue? {
        let (own, foreign) = (Double(max(1, total)), Double(max(1, other.total)))
        func excess(_ value: PartValue) -> Double {
            Double(counts[value] ?? 0) / own - Double(other.counts[value] ?? 0) / foreign
        }
        return counts.keys.max { (excess($0), $1.text) < (excess($1), $0.text) }
    }
}

/// The contents of the responses of one arm for one URL.
package struct ContentTally: Sendable {
    /// The most parts that are counted for one status.
    static let maximumParts = 20_000
    /// The most parts of one status that are known not to be counted.
    private static let maximumUncounted = 200_000

    /// The statuses of the responses. A failure has none, and counts among the errors alone.
    private(set) var statuses = PartTally()
    /// The codes of errors, and `none`.
    private(set) var errors = PartTally()
    /// The parts of the responses with one status.
    private(set) var parts: [Int: [PartName: PartTally]] = [:]
    private(set) var responses: [Int: Int] = [:]
    /// The hash values of the parts that were not counted, by status. Of more than ``maximumUncounted`` it has as many.
    private var uncounted: [Int: Set<Int>] = [:]
    /// The parts of responses that were seen already, by their number.
    private var known: [Int: (response: RecordedResponse, parts: [PartName: PartValue])] = [:]
    /// How many responses there are, of which only a part may have been counted.
    package private(set) var count = 0
    /// How many responses were not compared, since there was no room for more.
    package private(set) var notCompared = 0
    /// How many parts were not compared, since there was no room for more: this many at least.
    package var partsNotCompared: Int { uncounted.values.reduce(0) { $0 + $1.count } }
    /// The texts of the first error of each code.
    package private(set) var errorTexts: [String: String] = [:]

    package init() {}

    /// Makes a response known by a number.
    package mutating func learn(_ response: RecordedResponse, as number: Int) {
        known[number] = (response, ResponseParts.parts(of: response))
    }

    /// Returns the error of a response that is known by a number; `nil` for a success.
    package func errorCode(of number: Int) -> String? { known[number]?.response.errorCode }

    /// Counts a response that is known by a number; an unknown one counts as not compared.
    package mutating func count(_ number: Int, times: Int = 1) {
        count += times
        guard let (response, values) = known[number] else {
            notCompared += times
            return
        }
        if let status = response.status { statuses.add(PartValue("\(status)"), count: times) }
        errors.add(PartValue(response.errorCode ?? "none"), count: times)
        if let code = response.errorCode, errorTexts[code]?.isEmpty ?? true {
            errorTexts[code] = response.errorText ?? code
        }
        guard !response.isOutline else {
            if response.status != nil { notCompared += times }
            return
        }
        guard let status = response.status else { return }
        let before = responses[status, default: 0]
        responses[status] = before + times
        var tallies = parts[status, default: [:]]
        parts[status] = nil
        let new = values.keys.filter { tallies[$0] == nil }
        for name in partsWithRoom(new, status, room: Self.maximumParts - tallies.count) {
            tallies[name] = PartTally()
            // The responses before it lacked the part.
            if before > 0 { tallies[name]?.add(.absent, count: before) }
        }
        for (name, value) in values { tallies[name]?.add(value, count: times) }
        for name in tallies.keys where values[name] == nil { tallies[name]?.add(.absent, count: times) }
        parts[status] = tallies
    }

    /// Returns the parts that there is room for, and notes the other ones.
    private mutating func partsWithRoom(_ names: [PartName], _ status: Int, room: Int) -> [PartName] {
        guard names.count > room else { return names }
        // In order, so that each arm has room for the same ones.
        let sorted = names.sorted()
        for name in sorted.dropFirst(room) where uncounted[status, default: []].count < Self.maximumUncounted {
            uncounted[status, default: []].insert(name.hashValue)
        }
        return Array(sorted.prefix(room))
    }

    /// Whether a part without a tally may be in responses with a status all the same.
    private func isUncounted(_ part: PartName, _ status: Int) -> Bool {
        guard let uncounted = uncounted[status] else { return false }
        return uncounted.count == Self.maximumUncounted || uncounted.contains(part.hashValue)
    }

    /// Returns the tally of a part among the responses with a status; an empty one if there was no room for the part.
    func tally(of part: PartName, status: Int) -> PartTally {
        if let tally = parts[status]?[part] { return tally }
        var tally = PartTally()
        if isUncounted(part, status) { return tally }
        if let count = responses[status] { tally.add(.absent, count: count) }
        return tally
    }

    /// Returns a body that is compared as a whole and has that value; `nil` if it is not kept.
    func body(with value: PartValue) -> Data? {
        known.values.first { $0.parts["body"] == value }.flatMap { $0.response.digest == nil ? $0.response.body : nil }
    }

    /// The number of responses with each status, and of errors with each code.
    package var outcomes: (statuses: [Int: Int], errors: [String: Int]) {
        let failed = errors.counts.filter { $0.key.text != "none" }
        let statuses = statuses.counts.compactMap { value, count in Int(value.text).map { ($0, count) } }
        return (
            Dictionary(uniqueKeysWithValues: statuses),
            Dictionary(uniqueKeysWithValues: failed.map { ($0.key.text, $0.value) })
        )
    }
}
