import Foundation
import NetworkComparison
import NetworkLayer

/// All that a comparison found.
struct ExperimentResult: Sendable {
    /// The arms, without the copy of the first one.
    var arms: [Arm]
    /// The second copy of the first arm.
    var copy: Arm
    var urls: [URLResult]
    /// The command that repeats the comparison.
    var command: String
    var environment: [(name: String, value: String)]
    var design: ExperimentDesign
    /// How each arm has changed since an earlier run, and what else was different then.
    var changes: [Verdict] = []
    var warnings: [String] = []
    /// What the result has and the baseline lacks, in words.
    var missing: [String] = []
    /// How much more memory and descriptors an arm's process keeps of each request than the first arm's.
    var growths: [Growth] = []

    /// What arms are compared by.
    var metrics: [Metric] { design.metrics }
    /// What to know before the verdicts are read, in sentences.
    var remarks: [String] {
        var remarks: [String] = []
        let longest = arms.flatMap(\.figures).flatMap(\.blocks).map(\.requests).max() ?? 0
        if let seconds = design.openSeconds(of: longest), longest > 0 {
            remarks.append(
                "each process was sent requests for \(Verdict.factor(seconds)) s without a pause; how long a stall of the "
                    + "server lasts beyond that is not seen")
        }
        guard design.rate == nil, !design.isOfProgram else { return remarks }
        for arm in arms {
            let summary = ArmSummary(arm.figures)
            let cores = summary.cores
            guard cores >= Self.fullCore, !summary.latencies.isEmpty else { continue }
            remarks.append(
                "\(arm.name) keeps \(String(format: "%.2g", cores)) cores busy: its requests wait for the client, so "
                    + "median, rate and CPU are one fact; --rate measures the server")
        }
        return remarks
    }
    /// The cores from which on a client is what a closed load measures.
    private static let fullCore = 0.9

    /// Compares the result with an earlier one.
    mutating func compare(with baseline: Baseline) {
        changes = baseline.verdicts(on: self)
        warnings = baseline.warnings(on: self)
        missing = baseline.missing(of: self)
    }

    /// The result for one URL.
    struct URLResult: Sendable {
        var url: String
        /// The fingerprint of the request, by which an earlier run of the same one is known.
        var request: String?
        var verdicts: [Verdict]
        /// The contents of each arm but the first, compared with the first one's.
        var contents: [ContentComparison]
        /// How far two copies of the first arm may be apart, by metric.
        var noise: [Metric: Double]
        /// The half-widths of the intervals of each arm's figures, as shares, by metric.
        var widths: [[Metric: Double]]
    }

    init(
        _ arms: [Arm], urls: [String], requests: [String] = [], sentNames: [[HTTPField.Name]] = [],
        design: ExperimentDesign, command: String,
        environment: [(name: String, value: String)]
    ) {
        self.arms = arms.filter { !$0.isCopy }
        copy = arms[arms.count - 1]
        (self.command, self.environment, self.design) = (command, environment, design)
        self.urls = []
        var generator = SeededGenerator(seed: design.seed)
        let first = self.arms[0]
        // Each run of a program is a process of its own.
        if !design.isOfProgram {
            growths = Growth.growths(self.arms.map { ($0.name, $0.states) }, copy: copy.states)
        }
        for index in urls.indices {
            let copied = copy.figures[index]
            let url = urls[index]
            let noise = Verdicts.noise(first.figures[index].blocks, copied.blocks, using: &generator)
                .filter { metrics.contains($0.key) }
            let verdicts = Verdicts.verdicts(
                url: url, arms: self.arms.map { ($0.name, $0.figures[index].blocks) }, noise: noise,
                comparisons: design.comparisons, metrics: metrics, using: &generator)
            let contents = self.arms.dropFirst().map { arm in
                func comparison(_ responses: (ArmFigures) -> ContentTally) -> ContentComparison {
                    ContentComparison(
                        responses(first.figures[index]), copy: responses(copied), responses(arm.figures[index]),
                        kinds: (first.specification.kind.rawValue, arm.specification.kind.rawValue),
                        sentNames: index < sentNames.count ? sentNames[index] : [],
                        // Without TLS, a version comes from the arm alone.
                        mayDifferInVersion: !Self.isInClear(url)
                            || first.specification.httpVersion != arm.specification.httpVersion)
                }
                var all = comparison(\.contents)
                all.add(inFirstResponses: comparison(\.firstContents))
                return all
            }
            let widths = self.arms.map { PairedComparison.widths(of: $0.figures[index].blocks, using: &generator) }
            let request = index < requests.count ? requests[index] : nil
            self.urls.append(
                URLResult(
                    url: url, request: request, verdicts: verdicts, contents: contents, noise: noise,
                    widths: widths))
        }
    }

    /// Whether a request goes out without TLS, by its name: its method, if that is not GET, and its URL.
    private static func isInClear(_ name: String) -> Bool {
        let words = name.split(separator: " ", maxSplits: 1)
        return words.last?.lowercased().hasPrefix("http://") == true || name.lowercased().hasPrefix("http://")
    }

    var hasDifferences: Bool {
        urls.contains { $0.contents.contains { !$0.differences.isEmpty || $0.isUnfounded } }
    }

    /// Whether there is a difference that is not known, or nothing can be said of differences.
    var hasNewDifferences: Bool {
        urls.contains { $0.contents.contains { $0.isUnfounded || $0.differences.contains { $0.known == nil } } }
    }

    /// Whether an arm ended, or a request failed.
    var hasFailures: Bool { (arms + [copy]).contains(where: \.hasFailures) }

    /// The arms that reports show: the copy too if something failed there, since it is the first arm's transport.
    var shownArms: [Arm] { copy.hasFailures ? arms + [copy] : arms }
}

extension Arm {
    /// Whether the arm ended, or a request failed.
    var hasFailures: Bool {
        figures.contains { $0.ended != nil } || !ArmSummary.errors(figures).isEmpty
            || !ArmSummary.warmUpErrors(figures).isEmpty
    }
}

/// The figures of an arm over several blocks, as reports show them.
struct ArmSummary: Sendable {
    let figures: [ArmFigures]
    let values: [Metric: Double]

    init(_ figures: [ArmFigures]) {
        self.figures = figures
        values = BlockFigures(figures.flatMap(\.blocks)).values
    }

    /// The cores that the arm's processes kept busy while they sent.
    var cores: Double {
        let blocks = figures.flatMap(\.blocks)
        let seconds = blocks.reduce(0) { $0 + $1.seconds }
        return seconds > 0 ? blocks.reduce(0) { $0 + $1.cpuMicroseconds } / seconds / 1_000_000 : 0
    }

    /// Returns the number of failures, by code.
    static func errors(_ figures: [ArmFigures]) -> [String: Int] {
        figures.reduce(into: [:]) { $0.merge($1.contents.outcomes.errors, uniquingKeysWith: +) }
    }

    /// Returns the number of failures before anything counted, by code.
    static func warmUpErrors(_ figures: [ArmFigures]) -> [String: Int] {
        figures.reduce(into: [:]) { $0.merge($1.warmUpErrors, uniquingKeysWith: +) }
    }

    /// The requests whose responses count; those whose times count are the blocks'.
    var requests: Int { figures.reduce(0) { $0 + $1.contents.count } }
    var latencies: [Double] { figures.flatMap { $0.blocks.flatMap(\.latencies) } }
    var connections: Int { figures.reduce(0) { $0 + $1.connections } }
    /// Whether the transport reports its connections.
    var knowsConnections: Bool { connections + figures.reduce(0) { $0 + $1.reuses } > 0 }
    /// The connections, or a dash where the transport does not report them.
    var connectionsText: String { knowsConnections ? "\(connections)" : "-" }
    var peakResidentKB: Int { figures.map(\.peakResidentKB).max() ?? 0 }
    var threads: Int { figures.map(\.threads).max() ?? 0 }
    var descriptors: Int { figures.map(\.descriptors).max() ?? 0 }
    var errors: [String: Int] { Self.errors(figures) }
    var statuses: [Int: Int] {
        figures.reduce(into: [:]) { $0.merge($1.contents.outcomes.statuses, uniquingKeysWith: +) }
    }
    /// How many responses were not compared, since there was no room for more.
    var notCompared: Int { figures.reduce(0) { $0 + $1.contents.notCompared } }
    var ended: String? { figures.compactMap(\.ended).first }

    /// The mean times of the steps of a request, in milliseconds; `nil` where they are not known.
    var phases: PhaseTimes? {
        var sum = PhaseTimes()
        for part in figures { sum += part.phases }
        guard sum.count > 0 else { return nil }
        let count = Double(sum.count)
        return PhaseTimes(
            queue: sum.queue / count, lookUp: sum.lookUp / count, connect: sum.connect / count, tls: sum.tls / count,
            firstByte: sum.firstByte / count, body: sum.body / count, count: sum.count)
    }
}
