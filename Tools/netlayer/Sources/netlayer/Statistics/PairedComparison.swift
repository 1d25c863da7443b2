import Foundation
import NetworkComparison

struct RatioInterval: Sendable, Equatable {
    var ratio: Double
    var low: Double
    var high: Double

    init(ratio: Double, low: Double, high: Double) {
        (self.ratio, self.low, self.high) = (ratio, low, high)
    }

    var includesOne: Bool { low <= 1 && high >= 1 }

    /// The largest change that the interval does not exclude, as a factor above 1.
    var reach: Double { max(high, 1 / low) }

    /// Returns the change, as a factor above 1, that would hardly have been missed: its interval would not contain 1,
    /// and it would exceed the noise, unless chance had moved it by half the width of the interval.
    func detectable(beyond noise: Double) -> Double {
        let reach = (high / low).squareRoot()
        return reach * max(reach, noise)
    }

    /// The half-width, as a share of the ratio.
    var halfWidth: Double { (high / low).squareRoot() - 1 }
}

/// The ratios of two arms' figures, from blocks that were taken in turns.
///
/// What one process did is one observation, however many blocks it is: where other work takes the cores, a process may
/// be slower than its equal for as long as it lives. Processes with the same number lived at the same time and took
/// turns, so they met the same state of the machine. The bootstrap draws pairs of processes, with repetition. Its
/// standard error of the ratio's logarithm and Student's distribution make the interval: the percentiles of the
/// bootstrap themselves would need ten thousands of draws where many verdicts share one chance of an error.
struct PairedComparison: Sendable {
    static let draws = 1_000
    /// The fewest pairs of processes for which an interval is given.
    static let minimumProcesses = ContentComparison.minimumProcesses

    /// The number of pairs of processes.
    let processes: Int
    /// The number of requests with a response, of the arm that has fewer.
    let requests: Int
    let values: (left: [Metric: Double], right: [Metric: Double])
    private let ratios: [Metric: Double]
    /// The standard error of each ratio's logarithm.
    private let errors: [Metric: Double]

    /// - Parameters:
    ///   - left: The blocks of one arm.
    ///   - right: The blocks of the other arm.
    ///   - arePaired: Whether processes with the same number lived at the same time; one without a counterpart does not
    ///     count then. Otherwise those of each arm are drawn by themselves, and all of them count.
    ///   - draws: How often processes are drawn.
    init(
        _ left: [Block], _ right: [Block], arePaired: Bool = true, draws: Int = PairedComparison.draws,
        using generator: inout some RandomNumberGenerator
    ) {
        let (ones, others) = (Block.byProcess(left), Block.byProcess(right))
        let left = Self.figures(of: ones, if: { !arePaired || others[$0] != nil })
        let right = Self.figures(of: others, if: { !arePaired || ones[$0] != nil })
        processes = min(left.count, right.count)
        requests = min(left.requests, right.requests)
        values = (left.values, right.values)
        ratios = Self.ratios(values.left, values.right)
        guard processes >= Self.minimumProcesses else {
            errors = [:]
            return
        }
        errors = Self.errors(draws, using: &generator) { generator in
            let weights = Self.weights(left.count, using: &generator)
            let others = arePaired ? weights : Self.weights(right.count, using: &generator)
            return Self.ratios(left.values(counting: weights), right.values(counting: others))
        }
    }

    /// Returns the standard error of each value's logarithm; none for one that not each draw has.
    private static func errors<Generator: RandomNumberGenerator>(
        _ draws: Int, using generator: inout Generator, _ draw: (inout Generator) -> [Metric: Double]
    ) -> [Metric: Double] {
        var samples: [Metric: [Double]] = [:]
        for _ in 0..<draws {
            for (metric, value) in draw(&generator) where value > 0 { samples[metric, default: []].append(log(value)) }
        }
        return samples.filter { $0.value.count == draws }.mapValues { values in
            let mean = values.reduce(0, +) / Double(values.count)
            return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1)).squareRoot()
        }
    }

    /// Returns the figures of some processes, in the order of their numbers.
    private static func figures(of processes: [Int: Block], if counts: (Int) -> Bool) -> BlockFigures {
        BlockFigures(processes.filter { counts($0.key) }.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Returns the interval of a metric's ratio, left to right; `nil` for fewer processes than ``minimumProcesses``,
    /// for fewer requests than ``Metric/minimumRequests``, or without a value.
    func interval(_ metric: Metric, confidence: Double) -> RatioInterval? {
        guard requests >= metric.minimumRequests, let ratio = ratios[metric], let error = errors[metric] else {
            return nil
        }
        // The bootstrap of n processes divides by n where an estimate from n processes divides by n - 1.
        let corrected = error * (Double(processes) / Double(processes - 1)).squareRoot()
        let reach = exp(StudentT.quantile((1 + confidence) / 2, degrees: processes - 1) * corrected)
        return RatioInterval(ratio: ratio, low: ratio / reach, high: ratio * reach)
    }

    /// Returns the ratio of a metric, left to right, whether there are enough processes for an interval or not.
    func ratio(_ metric: Metric) -> Double? { ratios[metric] }

    /// Returns how often each of some processes is drawn.
    private static func weights(_ count: Int, using generator: inout some RandomNumberGenerator) -> [Int] {
        var weights = [Int](repeating: 0, count: count)
        for _ in 0..<count { weights[Int.random(in: 0..<count, using: &generator)] += 1 }
        return weights
    }

    private static func ratios(_ left: [Metric: Double], _ right: [Metric: Double]) -> [Metric: Double] {
        left.reduce(into: [:]) { ratios, entry in
            let least = entry.key.isCount ? leastCount : 0
            guard let other = right[entry.key], other + least > 0, entry.value + least > 0 else { return }
            ratios[entry.key] = (entry.value + least) / (other + least)
        }
    }

    /// What is added to counts, which may be 0: once for a thousand requests.
    private static let leastCount = 0.001

    /// Returns the half-width of the 95 % interval of each figure of an arm, as a share of it; none for fewer processes
    /// than ``minimumProcesses``.
    static func widths(
        of blocks: [Block], draws: Int = PairedComparison.draws, using generator: inout some RandomNumberGenerator
    ) -> [Metric: Double] {
        let figures = figures(of: Block.byProcess(blocks)) { _ in true }
        guard figures.count >= minimumProcesses else { return [:] }
        let errors = errors(draws, using: &generator) { figures.values(counting: weights(figures.count, using: &$0)) }
        let degrees = Double(figures.count - 1)
        let reach = StudentT.quantile(0.975, degrees: figures.count - 1) * ((degrees + 1) / degrees).squareRoot()
        return errors.filter { figures.requests >= $0.key.minimumRequests }.mapValues { exp(reach * $0) - 1 }
    }
}
