import Foundation
public import NetworkCore

/// A part of the responses by which two arms differ.
public struct ContentDifference: Sendable {
    /// The part: `status`, `error`, `field:name`, `json:/path`, `body`, …, safe to print.
    public var place: String
    /// The part with what is left out of ``place``.
    public var wholePlace: String
    /// Whether one of the arms lacks the part in the responses that are typical for the difference.
    public var isOneSided = false
    /// The share of responses by which the arms differ, from 0 to 1.
    public var share: Double
    /// The same for two copies of the first arm.
    public var noiseShare: Double
    /// A value of each arm that is typical for the difference, safe to print.
    public var example: (left: String, right: String)
    /// The known difference between the transports that it is; `nil` if it is new.
    public var known: KnownDifference?
    /// The status of the responses, if there are several.
    public var status: Int?

    /// The difference as a sentence.
    public func text(_ arms: (left: String, right: String)) -> String {
        let spot = status.map { "\(place) (status \($0))" } ?? place
        let often = share >= 0.9995 ? "" : " in \(Self.percent(share)) of the responses"
        let noise = noiseShare > 0 ? "; two copies of \(arms.left) differ in \(Self.percent(noiseShare))" : ""
        return "\(spot): \(example.left) over \(arms.left), \(example.right) over \(arms.right)\(often)\(noise)"
    }

    /// Returns a share as a percentage, with two digits that count below 10 %.
    public static func percent(_ share: Double) -> String {
        share * 100 >= 10 ? "\(Int((share * 100).rounded())) %" : String(format: "%.2g %%", share * 100)
    }
}

/// Finds the differences between the responses of two arms.
public struct ContentComparison: Sendable {
    /// The most new differences that are listed, and the most known ones; the rest is counted.
    public static let maximumDifferences = 100
    /// The fewest processes of an arm whose differences from one another can be told from chance.
    public static let minimumProcesses = 5

    /// The differences that were found.
    public private(set) var differences: [ContentDifference] = []
    /// The parts that change from request to request over one arm as much as between the arms, with that share.
    public private(set) var noise: [(place: String, share: Double)] = []
    /// How many differences were found beyond those that are listed: known ones, and new ones.
    public private(set) var unlisted = (known: 0, new: 0)

    /// Whether status or error of most responses is another one for the copy of the first arm: the server treats equal
    /// arms differently, for example by a limit of connections.
    public var isUnfounded: Bool {
        noise.contains { ["status", "error"].contains($0.place) && $0.share >= Self.shareBeyondChance }
    }

    /// Whether bodies change from response to response as a whole, so that nothing can be said of them.
    public var hasUncomparedBodies: Bool { noise.contains { $0.place == "body" } }

    /// The share from which on two copies of one arm do not differ by chance: the server treats them differently.
    public static let shareBeyondChance = 0.5

    /// Whether one of the arms has no responses.
    public let isEmpty: Bool
    /// Whether there was no room to compare all responses, or all parts of them.
    public let isPartial: Bool

    private let kinds: (left: String, right: String)
    private let sentNames: Set<String>
    private let mayDifferInVersion: Bool
    private let secrets: PartSecrets
    private let bodies: [ContentTally]

    /// - Parameters:
    ///   - first: The responses of the first arm.
    ///   - copy: Those of its second copy.
    ///   - other: Those of another arm.
    ///   - kinds: The names of the transports of the two arms.
    ///   - sentNames: The header fields of the request besides those that the library adds.
    ///   - secretFields: The header fields that are secret besides those of ``SecretFields``.
    ///   - mayDifferInVersion: Whether the arms may speak different versions of HTTP.
    public init(
        _ first: ContentTally, copy: ContentTally?, _ other: ContentTally, kinds: (left: String, right: String),
        sentNames: some Sequence<HTTPField.Name>, secretFields: Set<HTTPField.Name> = [],
        mayDifferInVersion: Bool = true
    ) {
        (self.kinds, self.mayDifferInVersion) = (kinds, mayDifferInVersion)
        self.sentNames = Set(sentNames.map(\.canonicalName))
        secrets = PartSecrets(secretFields)
        bodies = [first, copy, other].compactMap(\.self)
        isEmpty = first.statuses.total == 0 || other.statuses.total == 0
        isPartial = bodies.contains { $0.notCompared > 0 || $0.partsNotCompared > 0 }
        judge("status", nil, first.statuses, copy?.statuses, other.statuses)
        judge("error", nil, first.errors, copy?.errors, other.errors)
        let statuses = Set(first.responses.keys).intersection(other.responses.keys).sorted()
        for status in statuses {
            let places = [first, copy, other].compactMap { $0?.parts[status]?.keys }.reduce(into: Set<PartName>()) {
                $0.formUnion($1)
            }
            let keys = VolatileKeys(
                first, copy: copy?.responses[status] == nil ? nil : copy, other, places: places, status: status)
            for parent in keys.setAside.keys.sorted() {
                noise.append((secrets.shownPlace("\(parent.text)/…"), keys.setAside[parent] ?? 0))
            }
            for place in places.sorted() where !keys.belongs(place) {
                let copied = copy?.responses[status] == nil ? nil : copy?.tally(of: place, status: status)
                // There was no room for the part over the copy.
                if copied?.total == 0 { continue }
                judge(
                    place.text, statuses.count > 1 ? status : nil, first.tally(of: place, status: status), copied,
                    other.tally(of: place, status: status))
            }
        }
    }

    /// Adds what differs only in the first responses of connections: among all responses it is lost.
    public mutating func add(inFirstResponses firsts: ContentComparison) {
        let found = Set(differences.map(\.wholePlace)), aside = Set(noise.map(\.place))
        for var difference in firsts.differences
        where !found.contains(difference.wholePlace) && !aside.contains(difference.place) {
            difference.place = "first response of a connection, \(difference.place)"
            differences.append(difference)
        }
    }

    private mutating func judge(
        _ place: String, _ status: Int?, _ first: PartTally, _ copy: PartTally?, _ other: PartTally
    ) {
        guard first.total > 0, other.total > 0 else { return }
        let base = copy.map(first.adding) ?? first
        let share = base.distance(to: other)
        let noiseShare = copy.map(first.distance) ?? 0
        guard share > 0 || noiseShare > 0 else { return }
        guard Self.differs(base, first, copy, other) else {
            noise.append((secrets.shownPlace(place), noiseShare))
            return
        }
        let values = (base.mostTypical(against: other) ?? .absent, other.mostTypical(against: base) ?? .absent)
        let known = KnownDifference.found(
            at: place, values.0, values.1, kinds, sentNames: sentNames, mayDifferInVersion: mayDifferInVersion)
        guard differences.count(where: { ($0.known == nil) == (known == nil) }) < Self.maximumDifferences else {
            if known == nil { unlisted.new += 1 } else { unlisted.known += 1 }
            return
        }
        differences.append(
            ContentDifference(
                place: secrets.shownPlace(place), wholePlace: place,
                isOneSided: [values.0, values.1].contains { $0.kind == PartValue.absent.kind }, share: share,
                noiseShare: noiseShare, example: example(of: values, in: place),
                known: known, status: status))
    }

    /// Returns whether an arm differs from the two copies of the first one (`base`) by more than these from each other.
    static func differs(
        _ base: PartTally, _ first: PartTally, _ copy: PartTally?, _ other: PartTally
    ) -> Bool {
        differsBeyondNoise(base, first, copy, other)
            || differsBeyondNoise(base.kinds, first.kinds, copy?.kinds, other.kinds)
            || lacksValues(base, first, copy, other)
    }

    private static func differsBeyondNoise(
        _ base: PartTally, _ first: PartTally, _ copy: PartTally?, _ other: PartTally
    ) -> Bool {
        let share = base.distance(to: other)
        // What never changes over one arm may not change over another, not even once.
        if base.onlyValue != nil { return share > 0 }
        let beyond = share - (copy.map(first.distance) ?? 0)
        guard beyond > base.chance(in: other.total) else { return false }
        // A server that changes its response does so for all arms, but not in the same part of their rounds.
        return isBeyondChance(beyond, of: base.differences(to: other, in: base.valuesMoreFrequent(in: other)))
    }

    /// Returns whether values of both copies of the first arm are missing from the other one beyond chance (below
    /// 0.1 %). Where a copy has one value alone, that of the other copy must be the same: one that only one of them has
    /// had may belong to the time of the experiment, or to a connection.
    private static func lacksValues(
        _ base: PartTally, _ first: PartTally, _ copy: PartTally?, _ other: PartTally
    ) -> Bool {
        guard other.onlyValue != nil, let copy else { return false }
        let vary = first.onlyValue == nil && copy.onlyValue == nil
        let values = Set(
            first.counts.keys.filter { vary || copy.counts[$0] != nil }
                + copy.counts.keys.filter { vary || first.counts[$0] != nil }
        ).filter { other.counts[$0] == nil }
        let missing = Double(2 * min(first.count(of: values), copy.count(of: values)))
        let all = Double(first.total + copy.total + other.total)
        guard missing > 0, exp(-missing * Double(other.total) / all) < 0.001 else { return false }
        let differences = other.differences(to: base, in: values)
        return isBeyondChance(of: differences)
    }

    /// Returns whether a mean, or what noise leaves of it, is larger than 0 beyond chance (0.1 %, Student's t).
    private static func isBeyondChance(_ rest: Double? = nil, of parts: [Double]) -> Bool {
        // Without a part that both have had, there is nothing to compare.
        guard parts.count >= ContentComparison.minimumProcesses else { return !parts.isEmpty }
        let number = Double(parts.count)
        let average = parts.reduce(0, +) / number
        let squares = parts.reduce(0) { $0 + ($1 - average) * ($1 - average) }
        let limit = limits[min(parts.count - 1, limits.count) - 1]
        return (rest ?? average) > limit * (squares / (number - 1) / number).squareRoot()
    }

    /// The standard errors that chance exceeds with 0.1 %, by degrees of freedom from 1 on.
    private static let limits = (1...50).map { StudentT.quantile(0.999, degrees: $0) }

    // MARK: What may be printed

    private func example(of values: (PartValue, PartValue), in place: String) -> (String, String) {
        if place == "body" { return shownBodies(values) }
        // A word says by itself not whether it is a secret.
        return place.hasBytePrefix("text:") ? (Self.length(values.0), Self.length(values.1)) : shown(values, in: place)
    }

    private static func length(_ value: PartValue) -> String {
        if value.kind == PartValue.absent.kind { return "nothing" }
        return value.isDigest ? String(value.text.prefix { $0 != "," }) : "\(value.text.utf8.count) bytes"
    }

    /// Returns the lengths of two bodies and the place from which they differ: bodies that have no parts are not shown.
    private func shownBodies(_ values: (PartValue, PartValue)) -> (String, String) {
        func body(_ value: PartValue) -> Data? { bodies.lazy.compactMap { $0.body(with: value) }.first }
        func text(_ value: PartValue, _ body: Data?, _ offset: Int?) -> String {
            guard let body else { return value.kind == "absent" ? "nothing" : String(value.text.prefix { $0 != "," }) }
            return "\(body.count) bytes" + (offset.map { ", different from byte \($0) on" } ?? "")
        }
        let (left, right) = (body(values.0), body(values.1))
        let offset = left.flatMap { left in right.map { zip(left, $0).prefix { $0 == $1 }.count } }
        return (text(values.0, left, offset), text(values.1, right, offset))
    }

    private static let maximumShown = 80

    /// Returns the parts of two values around the first difference. Secrets are left out before anything is cut.
    private func shown(_ values: (PartValue, PartValue), in place: String) -> (String, String) {
        func shownOrNone(_ value: PartValue) -> String? {
            value.kind == "absent" ? nil : secrets.shown(value.text, in: place)
        }
        let texts = (shownOrNone(values.0), shownOrNone(values.1))
        if let left = texts.0, let right = texts.1, left.hasSameBytes(as: right), values.0 != values.1 {
            return values.0.text.hasSameBytes(as: values.1.text)
                ? (values.0.kind, values.1.kind)
                : (place == "redirects" ? "URLs with a query or a fragment" : "a secret", "another one")
        }
        let (left, right) = (Array((texts.0 ?? "").unicodeScalars), Array((texts.1 ?? "").unicodeScalars))
        let same = zip(left, right).prefix { $0 == $1 }.count
        let start = max(0, same - Self.maximumShown / 2)
        return (
            texts.0.map { _ in Self.cut(left, from: start) } ?? "nothing",
            texts.1.map { _ in Self.cut(right, from: start) } ?? "nothing"
        )
    }

    private static func cut(_ scalars: [Unicode.Scalar], from start: Int) -> String {
        let text = scalars.dropFirst(start).prefix(maximumShown).reduce(into: "") { text, scalar in
            text += scalar.isInvisible ? scalar.escaped(asASCII: true) : String(scalar)
        }
        let (before, after) = (start > 0 && start < scalars.count, scalars.count - start > maximumShown)
        return "'\(before ? "…" : "")\(text)\(after ? "…" : "")'"
    }
}
