import Foundation

/// The contents of the responses of one arm for one URL.
public struct ContentTally: Sendable {
    /// The most parts that are counted for one status.
    static let maximumParts = 20_000

    /// The statuses of the responses. A failure has none, and counts among the errors alone.
    private(set) var statuses = PartTally()
    /// The codes of errors, and `none`.
    private(set) var errors = PartTally()
    /// The parts of the responses with one status.
    private(set) var parts: [Int: [PartName: PartTally]] = [:]
    /// The responses with each status.
    private(set) var responses: [Int: RoundCount] = [:]
    /// How many parts had no room at once, by status.
    private var uncounted: [Int: Int] = [:]
    /// The responses that were seen already, by their number.
    private var known: [Int: Known] = [:]
    /// How many responses there are, of which only a part may have been counted.
    public private(set) var count = 0
    /// How many responses were not compared, since there was no room for more.
    public private(set) var notCompared = 0
    /// How many parts were not compared, since there was no room for more: this many at least.
    public var partsNotCompared: Int { uncounted.values.reduce(0, +) }
    /// The texts of the first error of each code.
    public private(set) var errorTexts: [String: String] = [:]

    /// Creates a tally without responses.
    public init() {}

    /// A response without its body, and its parts.
    private struct Known: Sendable {
        let response: RecordedResponse
        let headParts: [PartName: PartValue]
        let body: Body
    }

    /// A body, which many responses may have.
    private final class Body: Sendable {
        let bytes: Data
        private let type: String
        private let isCut: Bool
        let parts: [PartName: PartValue]

        init(of response: RecordedResponse) {
            (bytes, type, isCut) = (response.body, ResponseParts.type(of: response), response.isCut)
            parts = ResponseParts.bodyParts(of: response)
        }

        /// Whether the parts are also those of another response with the same bytes.
        func hasPartsOf(_ response: RecordedResponse) -> Bool {
            isCut == response.isCut && type == ResponseParts.type(of: response)
        }
    }

    /// Makes a response known by a number.
    public mutating func learn(_ response: RecordedResponse, as number: Int) {
        let earlier = response.digest == nil ? response.bodyOf.flatMap { known[$0]?.body } : nil
        var response = response
        // Without the earlier response there is nothing to compare.
        if response.digest == nil, response.bodyOf != nil, earlier == nil { response = response.outline }
        let headParts = ResponseParts.headParts(of: response)
        let body: Body
        if let earlier, earlier.hasPartsOf(response) {
            body = earlier
        } else {
            if let earlier { response.body = earlier.bytes }
            body = Body(of: response)
        }
        response.body = Data()
        known[number] = Known(response: response, headParts: headParts, body: body)
    }

    /// Returns the error of a response that is known by a number; `nil` for a success.
    public func errorCode(of number: Int) -> String? { known[number]?.response.errorCode }

    /// Counts a response that is known by a number; an unknown one counts as not compared.
    /// - Parameter round: The round of an experiment, no earlier than that of the call before.
    public mutating func count(_ number: Int, times: Int = 1, in round: ExperimentRound = ExperimentRound()) {
        count([number: times], in: round)
    }

    /// Counts the responses of a round: how often that of each number came. An unknown one counts as not compared.
    /// - Parameter round: The round of an experiment, no earlier than that of the call before.
    public mutating func count(_ outcomes: [Int: Int], in round: ExperimentRound = ExperimentRound()) {
        var compared: [Int: [(response: Known, times: Int)]] = [:]
        for (number, times) in outcomes {
            count += times
            guard let response = known[number] else {
                notCompared += times
                continue
            }
            if let status = countOutcome(of: response.response, times, in: round) {
                compared[status, default: []].append((response, times))
            }
        }
        for (status, responses) in compared { count(responses, with: status, in: round) }
    }

    /// Counts the status or the error of a response. Returns the status if its parts are compared.
    private mutating func countOutcome(
        of response: RecordedResponse, _ times: Int, in round: ExperimentRound
    ) -> Int? {
        if let status = response.status { statuses.add(PartValue("\(status)"), count: times, in: round) }
        errors.add(PartValue(response.errorCode ?? "none"), count: times, in: round)
        if let code = response.errorCode, errorTexts[code]?.isEmpty ?? true {
            errorTexts[code] = response.errorText ?? code
        }
        guard !response.isOutline else {
            if response.status != nil { notCompared += times }
            return nil
        }
        return response.status
    }

    /// Counts the parts of responses with one status. A body that several of them have is counted once.
    private mutating func count(
        _ found: [(response: Known, times: Int)], with status: Int, in round: ExperimentRound
    ) {
        var bodies: [ObjectIdentifier: (body: Body, times: Int)] = [:]
        for (response, times) in found {
            bodies[ObjectIdentifier(response.body), default: (response.body, 0)].times += times
        }
        let all =
            found.map { (parts: $0.response.headParts, times: $0.times) }
            + bodies.values.map { (parts: $0.body.parts, times: $0.times) }
        let (before, times) = (responses[status, default: RoundCount()], found.reduce(0) { $0 + $1.times })
        responses[status, default: RoundCount()].add(times, in: round)
        var tallies = parts[status, default: [:]]
        parts[status] = nil
        let new = Set(all.flatMap(\.parts.keys).filter { tallies[$0] == nil })
        for name in partsWithRoom(Array(new), status, room: Self.maximumParts - tallies.count) {
            // The responses before them lacked the part.
            tallies[name] = PartTally(.absent, before)
        }
        var present: [PartName: Int] = [:]
        for (parts, times) in all {
            for (name, value) in parts {
                tallies[name]?.add(value, count: times, in: round)
                present[name, default: 0] += times
            }
        }
        for name in tallies.keys {
            let absent = times - present[name, default: 0]
            if absent > 0 { tallies[name]?.add(.absent, count: absent, in: round) }
        }
        parts[status] = tallies
    }

    /// Returns the parts that there is room for, in order, so that each arm has room for the same ones.
    private mutating func partsWithRoom(_ names: [PartName], _ status: Int, room: Int) -> [PartName] {
        guard names.count > room else { return names }
        uncounted[status] = max(uncounted[status] ?? 0, names.count - room)
        return Array(names.sorted().prefix(room))
    }

    /// Returns the tally of a part among the responses with a status; an empty one if there was no room for the part.
    func tally(of part: PartName, status: Int) -> PartTally {
        if let tally = parts[status]?[part] { return tally }
        // A part of the head has room: its name comes before those of a body's JSON and text.
        return uncounted[status] != nil && !part.isOfHead
            ? PartTally() : PartTally(.absent, responses[status] ?? RoundCount())
    }

    /// Returns a body that is compared as a whole and has that value; `nil` if it is not kept.
    func body(with value: PartValue) -> Data? {
        known.values.first { $0.body.parts["body"] == value }.flatMap {
            $0.response.digest == nil ? $0.body.bytes : nil
        }
    }

    /// The number of responses with each status, and of errors with each code.
    public var outcomes: (statuses: [Int: Int], errors: [String: Int]) {
        let failed = errors.counts.filter { $0.key.text != "none" }
        let statuses = statuses.counts.compactMap { value, count in Int(value.text).map { ($0, count.total) } }
        return (
            Dictionary(uniqueKeysWithValues: statuses),
            Dictionary(uniqueKeysWithValues: failed.map { ($0.key.text, $0.value.total) })
        )
    }
}
