import Foundation
import NetworkComparison

/// How much more a resource of one arm's process grows with each request than that of the first arm's.
///
/// A process that keeps nothing of a request still grows while it warms up, and in steps. So only the arm's last
/// process counts, without the first third of its rounds; the growth of each later round is compared with that of the
/// first arm in the same round, and Student's interval of these differences has to exclude zero.
struct Growth: Codable, Sendable {
    enum Resource: String, CaseIterable, Codable, Sendable {
        /// The resident memory that no file is behind, in bytes.
        case memory
        case descriptors
    }

    /// The state of an arm's process after a round.
    struct State: Codable, Sendable {
        /// The number of the process: an arm gets another one when its process has ended.
        var process = 0
        /// The requests that the process has carried so far.
        var requests = 0
        /// In bytes; 0 where the system does not tell.
        var memory = 0
        /// 0 where the system does not tell.
        var descriptors = 0

        private enum CodingKeys: String, CodingKey {
            case process, requests, memory = "memoryBytes", descriptors
        }

        fileprivate func amount(of resource: Resource) -> Int { resource == .memory ? memory : descriptors }
    }

    let resource: Resource
    /// The first arm, and the one whose growth is compared with its.
    let arms: [String]
    /// How much more the other arm's process grows, for each request; negative where it grows less.
    let perRequest: Double
    let (low, high): (Double, Double)
    /// How much two copies of the first arm may differ; `nil` where that was not measured.
    let noise: Double?
    /// Whether the growth differs beyond doubt: the interval does not contain zero, and the difference is larger than
    /// that between two copies.
    let decided: Bool
    let text: String

    /// The probability with which one interval contains the growth.
    static let confidence = 0.999
    /// The fewest rounds of a process, after the first third, for which there is a growth.
    static let minimumRounds = 5

    private init(
        _ resource: Resource, _ first: String, _ other: String, _ own: (mean: Double, low: Double, high: Double),
        noise: Double?
    ) {
        (self.resource, arms, self.noise) = (resource, [first, other], noise)
        (perRequest, low, high) = own
        decided = (low > 0 || high < 0) && abs(perRequest) > noise ?? 0
        func shown(_ amount: Double) -> String { Self.shown(amount, of: resource) }
        if decided {
            let isMore = own.mean > 0
            let (more, less) = isMore ? (other, first) : (first, other)
            let (least, most) = isMore ? (own.low, own.high) : (-own.high, -own.low)
            let confidence = String(format: "%.1f %%", Self.confidence * 100)
            let floor = noise.map { "noise floor \(shown($0))" } ?? "no noise floor"
            text =
                "\(resource): \(more) grows by \(shown(abs(own.mean))) a request more than \(less) "
                + "(\(confidence) CI \(shown(least)) to \(shown(most)); \(floor))"
        } else {
            let size = Self.detectable(own.low, own.high, noise)
            let found =
                size > 0 ? "one of \(shown(size)) a request would have been found" : "it was the same in each round"
            text = "\(resource): no growth of \(other) beyond \(first)'s; \(found)"
        }
    }

    /// Returns the growth of each arm's resources against the first arm's; empty with too few rounds.
    static func growths(_ arms: [(name: String, states: [State])], copy: [State]) -> [Growth] {
        guard let first = arms.first else { return [] }
        return Resource.allCases.flatMap { resource in
            let equal = interval(differences(of: resource, first.states, copy), confidence: 0.95)
            return arms.dropFirst().compactMap { arm -> Growth? in
                let differences = differences(of: resource, first.states, arm.states)
                guard let own = interval(differences, confidence: confidence) else { return nil }
                return Growth(
                    resource, first.name, arm.name, own, noise: equal.map { max(abs($0.low), abs($0.high)) })
            }
        }
    }

    /// Returns, for each round that counts, by how much more the second process grew for each request.
    private static func differences(of resource: Resource, _ first: [State], _ second: [State]) -> [Double] {
        let count = min(first.count, second.count)
        guard count > 0 else { return [] }
        func start(_ states: [State]) -> Int {
            states[..<count].lastIndex { $0.process != states[count - 1].process }.map { $0 + 1 } ?? 0
        }
        let start = max(start(first), start(second))
        return (start + max(1, (count - start) / 3)..<max(start + 1, count)).compactMap { round in
            guard let one = growth(of: resource, first, round), let other = growth(of: resource, second, round) else {
                return nil
            }
            return other - one
        }
    }

    /// Returns the growth within a round; `nil` if another process ended the round, without requests, or where the
    /// amounts are not known.
    private static func growth(of resource: Resource, _ states: [State], _ round: Int) -> Double? {
        let (before, after) = (states[round - 1], states[round])
        let amounts = (before.amount(of: resource), after.amount(of: resource))
        guard before.process == after.process, after.requests > before.requests, amounts.0 > 0, amounts.1 > 0
        else { return nil }
        return Double(amounts.1 - amounts.0) / Double(after.requests - before.requests)
    }

    private static func interval(
        _ values: [Double], confidence: Double
    ) -> (mean: Double, low: Double, high: Double)? {
        guard values.count >= minimumRounds else { return nil }
        let count = Double(values.count)
        let mean = values.reduce(0, +) / count
        let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
        let reach =
            StudentT.quantile((1 + confidence) / 2, degrees: values.count - 1) * (variance / count).squareRoot()
        return (mean, mean - reach, mean + reach)
    }

    /// The growth that would hardly have been missed.
    var detectable: Double { Self.detectable(low, high, noise) }

    /// Its interval would exclude zero, and it would exceed the noise, unless chance had moved it by half the width of
    /// the interval.
    private static func detectable(_ low: Double, _ high: Double, _ noise: Double?) -> Double {
        let reach = (high - low) / 2
        return reach + max(reach, noise ?? 0)
    }

    private static func shown(_ amount: Double, of resource: Resource) -> String {
        guard resource == .memory else { return amount == 0 ? "0" : Verdict.factor(amount) }
        return switch amount {
        case ..<1_000: "\(Int(amount.rounded(.up))) B"
        case ..<1_000_000: "\(Verdict.factor(amount / 1_000)) kB"
        default: "\(Verdict.factor(amount / 1_000_000)) MB"
        }
    }
}
