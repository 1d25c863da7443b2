import Foundation
import enum NetworkComparison.StudentT
import Testing
import ToolSupport

@testable import netlayer

@Suite("Statistics of a comparison", .patience(minutes: 2)) struct StatisticsTests {
    /// Values of scipy.stats.t.ppf.
    @Test(
        arguments: [
            (0.975, 1, 12.706204736174694), (0.975, 4, 2.7764451051977934), (0.995, 9, 3.2498355415921254),
            (0.9995, 19, 3.883405852592082), (0.99995, 29, 4.505511631211001), (0.975, 1000, 1.9623390808264078),
            (0.025, 4, -2.7764451051977934), (0.5, 7, 0),
        ])
    func `quantiles of Student's distribution are right`(probability: Double, degrees: Int, expected: Double) {
        let quantile = StudentT.quantile(probability, degrees: degrees)
        #expect(abs(quantile - expected) < 1e-5 * max(1, abs(expected)))
    }

    @Test func `percentiles are nearest rank, of blocks as often as they are drawn`() {
        let blocks = [
            Block(latencies: [1, 2, 3, 4], seconds: 1, cpuMicroseconds: 40, requests: 4, process: 0),
            Block(latencies: [10, 20], seconds: 3, cpuMicroseconds: 20, requests: 3, process: 1),
        ]
        let figures = BlockFigures(blocks)
        let once = figures.values
        #expect(once[.p50] == 3 && once[.p95] == 20 && once[.p99] == 20)
        #expect(once[.rate] == 1.5)
        #expect(once[.cpu] == 60.0 / 7.0)
        // The first block alone, twice.
        let first = figures.values(counting: [2, 0])
        #expect(first[.p50] == 2 && first[.p99] == 4 && first[.rate] == 4 && first[.cpu] == 10)
        #expect(figures.values(counting: [0, 0]).isEmpty)
        #expect(BlockFigures([]).values.isEmpty)
        let failed = Block(latencies: [], seconds: 1, cpuMicroseconds: 9, requests: 3, process: 0)
        #expect(BlockFigures([failed]).values.isEmpty)
    }

    /// Returns blocks of latencies around a value, slower and faster from block to block as the machine is.
    /// - Parameters:
    ///   - rounds: The number of blocks of each process.
    ///   - luck: How far a process may be from another one for as long as it lives, as a logarithm.
    private static func blocks(
        around latency: Double, drift: [Double], rounds: Int = 1, luck: Double = 0,
        using generator: inout SeededGenerator
    ) -> [Block] {
        var own = 1.0
        return drift.enumerated().map { round, factor in
            if round % rounds == 0 { own = exp(Double.random(in: -luck...luck, using: &generator)) }
            let latencies = (0..<20).map { _ -> Double in
                let spread = (0..<4).reduce(0) { sum, _ in sum + Double.random(in: -0.3...0.3, using: &generator) }
                return latency * own * factor * exp(spread)
            }
            let sum = latencies.reduce(0, +)
            return Block(
                latencies: latencies, seconds: sum / 4_000, cpuMicroseconds: sum * 100, requests: 20,
                process: round / rounds)
        }
    }

    private static func experiment(
        _ seed: UInt64, change: Double, processes: Int = 20, rounds: Int = 1, luck: Double = 0
    ) -> [Verdict] {
        var generator = SeededGenerator(seed: seed)
        let drift = (0..<processes * rounds).map { _ in exp(Double.random(in: -0.4...0.4, using: &generator)) }
        func blocks(_ latency: Double, _ generator: inout SeededGenerator) -> [Block] {
            Self.blocks(around: latency, drift: drift, rounds: rounds, luck: luck, using: &generator)
        }
        let (first, other) = (blocks(1, &generator), blocks(change, &generator))
        let noise = Verdicts.noise(first, blocks(1, &generator), draws: 200, using: &generator)
        return Verdicts.verdicts(
            url: "u", ("one", first), ("other", other), noise: noise, comparisons: 1, draws: 200, using: &generator)
    }

    /// The chance of a wrong verdict is 5 % for a whole run; the noise floor makes it smaller.
    @Test func `equal arms are rarely told apart`() {
        let alarms = (1...100).count { Self.experiment(UInt64($0), change: 1).contains { $0.decided } }
        #expect(alarms <= 5)
    }

    /// Where other work takes the cores, a process may be slower than its equal for as long as it lives.
    @Test func `equal arms are rarely told apart by what their processes have in common`() {
        let alarms = (1...60).count {
            Self.experiment(UInt64($0), change: 1, processes: 6, rounds: 6, luck: 0.4).contains { $0.decided }
        }
        #expect(alarms <= 3)
    }

    @Test func `processes that have no counterpart do not count`() {
        var generator = SeededGenerator(seed: 1)
        let one = Self.blocks(around: 1, drift: Array(repeating: 1, count: 12), rounds: 2, using: &generator)
        let slow = Self.blocks(around: 100, drift: [1, 1], using: &generator).map { block in
            var block = block
            block.process = 9
            return block
        }
        let pairs = PairedComparison(one, one + slow, using: &generator)
        #expect(pairs.ratio(.p99) == 1 && pairs.interval(.p95, confidence: 0.95) != nil)
        // A process without a response is no counterpart.
        var failing = one
        for index in failing.indices where failing[index].process > 2 { failing[index].latencies = [] }
        let slower = one.map { block in
            var block = block
            if block.process > 2 { block.latencies = block.latencies.map { $0 * 100 } }
            return block
        }
        #expect(PairedComparison(slower, failing, using: &generator).ratio(.p99) == 1)
        let apart = PairedComparison(one, one + slow, arePaired: false, using: &generator)
        #expect(apart.ratio(.p99)! < 0.1)
    }

    /// The blocks of both arms meet the same drift of the machine, of up to 40 %, which the pairs cancel.
    @Test func `an arm that is a quarter slower is found`() {
        let found = (1...20).count { seed in
            Self.experiment(UInt64(seed), change: 1.25).contains { $0.metric == .p50 && $0.decided && $0.ratio! < 1 }
        }
        #expect(found >= 19)
    }

    @Test func `the interval contains the ratio as often as it says`() {
        let contained = (1...100).count { seed in
            var generator = SeededGenerator(seed: UInt64(seed))
            let drift = (0..<12).map { _ in exp(Double.random(in: -0.4...0.4, using: &generator)) }
            let one = Self.blocks(around: 1, drift: drift, using: &generator)
            let other = Self.blocks(around: 2, drift: drift, using: &generator)
            let interval = PairedComparison(one, other, draws: 200, using: &generator).interval(.p50, confidence: 0.9)!
            return interval.low <= 0.5 && interval.high >= 0.5
        }
        #expect((82...97).contains(contained))
    }

    @Test func `too few processes have a ratio and no interval`() {
        var generator = SeededGenerator(seed: 1)
        let blocks = Self.blocks(around: 1, drift: Array(repeating: 1, count: 40), rounds: 10, using: &generator)
        let pairs = PairedComparison(blocks, blocks, using: &generator)
        #expect(pairs.interval(.p50, confidence: 0.95) == nil)
        #expect(pairs.ratio(.p50) == 1)
        let verdicts = Verdicts.verdicts(
            url: "u", ("a", blocks), ("b", blocks), noise: [:], comparisons: 1, using: &generator)
        #expect(verdicts.allSatisfy { !$0.decided })
        #expect(verdicts[0].text == "median: too few processes for a verdict, 4 of 5")
        let none = Verdicts.verdicts(
            url: "u", ("a", blocks), ("b", []), noise: [:], comparisons: 1, using: &generator)
        #expect(none.map(\.text).first == "median: not measured")
    }

    @Test func `a percentile of too few requests has no interval`() {
        var generator = SeededGenerator(seed: 1)
        let blocks = (0..<10).map { process in
            Block(
                latencies: (0..<3).map { Double($0 + process + 1) }, seconds: 1, cpuMicroseconds: 9, requests: 3,
                process: process)
        }
        let verdicts = Verdicts.verdicts(
            url: "u", ("a", blocks), ("b", blocks), noise: [:], comparisons: 1, using: &generator)
        #expect(verdicts.filter { $0.interval == nil }.map(\.metric) == [.p99])
        #expect(verdicts[2].text == "99th percentile: too few requests for a verdict, 30 of 1000")
    }

    /// What a sentence says would have been found is found, and hardly by chance.
    @Test(arguments: [0, 4.0, 40]) func `a growth of the size that a sentence names is found`(noise: Double) {
        var generator = SeededGenerator(seed: 5)
        func steps(_ more: Double) -> [Growth.State] {
            var (memory, states) = (
                1_000_000, [Growth.State(process: 1, requests: 0, memory: 1_000_000, descriptors: 9)]
            )
            for round in 1...30 {
                memory += Int((more + Double.random(in: -30...30, using: &generator)) * 10)
                states.append(.init(process: 1, requests: 10 * round, memory: memory, descriptors: 9))
            }
            return states
        }
        func growth(_ more: Double) -> Growth? {
            let (copy, first) = (steps(noise), steps(0))
            return Growth.growths([("one", first), ("other", steps(more))], copy: copy).first { $0.resource == .memory }
        }
        let equal = (0..<200).compactMap { _ in growth(0) }
        #expect(equal.count { $0.decided } <= 3)
        // The size is another one each time, as its interval is.
        let size = equal.map(\.detectable).sorted()[100]
        #expect((0..<200).count { _ in growth(size)?.decided == true } >= 194)
        #expect((0..<200).count { _ in growth(size / 3)?.decided == true } < 194)
    }

    @Test func `all verdicts of a report share one chance of an error`() {
        #expect(Verdicts.confidence(comparisons: 1, metrics: 1) == 0.95)
        #expect(abs(Verdicts.confidence(comparisons: 6, metrics: 5) - (1 - 0.05 / 30)) < 1e-12)
    }

    @Test func `an amount that the system does not tell has no growth`() {
        let states = (0..<30).map { Growth.State(process: 1, requests: 10 * $0, memory: 0, descriptors: 5) }
        let growths = Growth.growths([("one", states), ("other", states)], copy: [])
        #expect(growths.map(\.resource) == [.descriptors])
        #expect(growths.first?.noise == nil)
    }

    @Test func `a verdict says what the data carry`() {
        func verdict(_ metric: Metric, _ ratio: Double, _ low: Double, _ high: Double, noise: Double?) -> Verdict {
            Verdict(
                url: "u", metric: metric, arms: ["curl", "urlsession"], ratio: ratio,
                interval: RatioInterval(ratio: ratio, low: low, high: high), noise: noise)
        }
        #expect(
            verdict(.p50, 0.46, 0.43, 0.49, noise: 1.06).text
                == "median: curl is 2.2 times as fast as urlsession (95 % CI 2.0 to 2.3; noise floor 6 %)")
        #expect(
            verdict(.rate, 2.13, 1.9, 2.4, noise: nil).text
                == "rate: curl carries 2.1 times as many requests a second as urlsession (95 % CI 1.9 to 2.4; no noise floor)"
        )
        #expect(
            verdict(.cpu, 0.0667, 0.06, 0.07, noise: 1).text
                == "CPU: urlsession takes 15 times the CPU time of curl for a request "
                + "(95 % CI 14 to 17; noise floor 0.0 %)")
        #expect(
            verdict(.p50, 1.0042, 1.002, 1.04, noise: 1.001).text
                == "median: urlsession is 1.004 times as fast as curl (95 % CI 1.002 to 1.04; noise floor 0.1 %)")
        let open = verdict(.p99, 1.01, 0.97, 1.05, noise: 1.02)
        #expect(!open.decided)
        #expect(
            open.text
                == "99th percentile: no difference found between curl and urlsession; one of 9 % would have been found")
        let noisy = verdict(.p99, 0.43, 0.32, 0.59, noise: 11)
        #expect(!noisy.decided)
        #expect(noisy.text.hasSuffix(" beyond the one between two equal arms, of over 900 %"))
        #expect(verdict(.p99, 0.9, 0.05, 16, noise: 11).text.hasSuffix("; the data are too noisy to show any"))
        #expect(verdict(.p50, 40, 30, 50, noise: 10.5).text.hasSuffix("; noise floor over 900 %)"))
        // The interval excludes 1, but two copies of one arm are that far apart.
        #expect(!verdict(.p50, 0.97, 0.95, 0.99, noise: 1.06).decided)
    }
}
