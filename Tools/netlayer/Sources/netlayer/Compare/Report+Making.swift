import Foundation
import Histogram
import NetworkComparison
import NetworkLayer

extension Report {
    /// Makes the report of a comparison.
    /// - Parameters:
    ///   - arms: The arms with what they did; the copy of the first one is the last.
    ///   - requests: The fingerprints of the requests.
    ///   - sentNames: The names of the header fields of each request.
    ///   - baseline: An earlier comparison.
    init(
        _ arms: [Arm], urls: [String], requests: [String] = [], sentNames: [[HTTPField.Name]] = [],
        design: ExperimentDesign, command: String = "", environment: [String: String] = [:], baseline: Report? = nil
    ) {
        let (all, copy, first) = (arms, arms[arms.count - 1], arms[0])
        let arms = all.dropLast()
        func figures(_ arm: Arm, _ figures: [ArmFigures]) -> Figures {
            Figures(arm, figures, isOfProgram: design.isOfProgram)
        }
        (self.command, self.environment) = (command, environment)
        self.arms = arms.map { figures($0, $0.figures) }
        self.copy = figures(copy, copy.figures)
        processes = all.map { Process(name: $0.name, rounds: $0.states) }
        notes = Self.notes(arms, design)
        self.design = Design(
            concurrency: design.concurrency, rate: design.rate, warmUp: design.warmUp, blockSize: design.blockSize,
            rounds: design.rounds, processes: design.processes, seed: design.seed, metrics: design.metrics)
        // Each run of a program is a process of its own.
        if !design.isOfProgram { growth = Growth.growths(arms.map { ($0.name, $0.states) }, copy: copy.states) }
        var generator = SeededGenerator(seed: design.seed)
        noise = [:]
        for (index, url) in urls.enumerated() {
            let blocks = all.map { ($0.name, $0.figures[index].blocks) }
            let noise = Verdicts.noise(blocks[0].1, blocks[all.count - 1].1, using: &generator)
                .filter { design.metrics.contains($0.key) }
            verdicts += blocks.dropFirst().dropLast().flatMap { other in
                Verdicts.verdicts(
                    url: url, blocks[0], other, noise: noise, comparisons: design.comparisons, metrics: design.metrics,
                    using: &generator)
            }
            var responses: [Responses] = []
            for arm in arms.dropFirst() {
                let contents = Self.contents(
                    url, first, copy, arm, index, sentNames.indices.contains(index) ? sentNames[index] : [])
                differences += contents.differences.map { Difference($0, url: url, arms: [first.name, arm.name]) }
                responses.append(Responses(contents, of: arm.name))
            }
            let targets = all.map { arm in
                Target.Arm(
                    name: arm.name, blocks: arm.figures[index].blocks, summary: figures(arm, [arm.figures[index]]),
                    widths: PairedComparison.widths(of: arm.figures[index].blocks, using: &generator),
                    wire: arm.figures[index].wire)
            }
            let shares = noise.mapValues { $0 - 1 }
            self.noise.merge(shares, uniquingKeysWith: max)
            self.urls.append(
                Target(
                    url: url, request: requests.indices.contains(index) ? requests[index] : nil, arms: targets,
                    noise: shares, responses: responses, gaps: targets.flatMap { Self.gaps($0.summary) }))
            if let baseline {
                changes += self.urls[index].changes(
                    since: baseline, noise: noise, design: design, isCopy: { $0 == copy.name }, using: &generator)
            }
        }
        answer = sentence
        if let baseline {
            missing = self.missing(in: baseline)
            warnings = self.warnings(since: baseline) + missing
        }
    }

    private static func contents(
        _ url: String, _ first: Arm, _ copy: Arm, _ arm: Arm, _ index: Int, _ sentNames: [HTTPField.Name]
    ) -> ContentComparison {
        // Without TLS, a version comes from the arm alone. The name of a request may begin with its method.
        let isInClear = url.split(separator: " ", maxSplits: 1).last?.lowercased().hasPrefix("http://") == true
        func comparison(_ responses: (ArmFigures) -> ContentTally) -> ContentComparison {
            ContentComparison(
                responses(first.figures[index]), copy: responses(copy.figures[index]), responses(arm.figures[index]),
                kinds: (first.specification.kind.rawValue, arm.specification.kind.rawValue), sentNames: sentNames,
                mayDifferInVersion: !isInClear || first.specification.httpVersion != arm.specification.httpVersion)
        }
        var all = comparison(\.contents)
        all.add(inFirstResponses: comparison(\.firstContents))
        return all
    }

    /// The cores from which on a client is what a closed load measures.
    private static let fullCore = 0.9

    private static func notes(_ arms: some Sequence<Arm>, _ design: ExperimentDesign) -> [String] {
        let longest = arms.flatMap(\.figures).flatMap(\.blocks).map(\.requests).max() ?? 0
        if let seconds = design.openSeconds(of: longest), longest > 0 {
            return [
                "each process was sent requests for \(Verdict.factor(seconds)) s without a pause; how long a stall of the "
                    + "server lasts beyond that is not seen"
            ]
        }
        if design.isOfProgram { return [] }
        return arms.compactMap { arm in
            let blocks = arm.figures.flatMap(\.blocks)
            let seconds = blocks.reduce(0) { $0 + $1.seconds }
            let cores = seconds > 0 ? blocks.reduce(0) { $0 + $1.cpuMicroseconds } / seconds / 1_000_000 : 0
            guard cores >= fullCore, blocks.contains(where: { !$0.latencies.isEmpty }) else { return nil }
            return
                "\(arm.name) keeps \(String(format: "%.2g", cores)) cores busy: its requests wait for the client, so "
                + "median, rate and CPU are one fact; --rate measures the server"
        }
    }

    /// Returns the failures before anything counted, and what there was no room to compare.
    private static func gaps(_ arm: Figures) -> [String] {
        let early =
            arm.warmUpErrors.isEmpty
            ? [] : ["\(arm.name): before anything counted, requests failed: \(counts(arm.warmUpErrors))"]
        let left = [(arm.notCompared, "of its responses"), (arm.partsNotCompared, "parts of its responses")]
        return early + left.filter { $0.0 > 0 }.map { "\(arm.name): no room to compare \($0.0) \($0.1)" }
    }

    static func counts(_ errors: [String: Int]) -> String {
        errors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    // MARK: The answer

    private var sentence: String? {
        guard arms.count > 1 else { return nil }
        return arms.dropFirst().map { "\(medians(of: $0.name)); \(responses(of: $0))" }.joined(separator: ". ") + "."
    }

    /// Says which arm is faster at the median, over all URLs.
    private func medians(of other: String) -> String {
        let first = arms[0].name
        let verdicts = verdicts.filter { $0.metric == .p50 && $0.arms[1] == other }
        let decided = verdicts.filter(\.decided)
        if verdicts.count == 1, let verdict = decided.first {
            return "at the median, \(verdict.text.dropFirst("\(Metric.p50.name): ".count))"
        }
        guard !decided.isEmpty else {
            return verdicts.contains { $0.interval != nil }
                ? "no difference found between \(first) and \(other) at the median"
                : "no verdict on the medians of \(first) and \(other)"
        }
        let ratios = decided.compactMap(\.ratio)
        func side(_ ahead: String, _ behind: String, _ factors: [Double]) -> String? {
            guard let least = factors.min(), let most = factors.max() else { return nil }
            let (low, high) = (Verdict.factor(least), Verdict.factor(most))
            return
                "\(ahead) is \(low == high ? low : "\(low) to \(high)") times as fast as \(behind) at the median for "
                + "\(factors.count) of \(verdicts.count) URLs"
        }
        return [
            side(first, other, ratios.filter { $0 < 1 }.map { 1 / $0 }), side(other, first, ratios.filter { $0 >= 1 }),
        ].compactMap(\.self).joined(separator: ", ")
    }

    private func responses(of other: Figures) -> String {
        let silent = [arms[0], other].filter(\.histogram.isEmpty)
        if !silent.isEmpty { return "no request of \(silent.map(\.name).joined(separator: " and ")) succeeded" }
        let differences = differences.filter { $0.arms[1] == other.name }
        let responses = urls.flatMap(\.responses).filter { $0.arm == other.name }
        let new = differences.count { $0.known == nil } + responses.reduce(0) { $0 + $1.unlistedNew }
        if new > 0 { return "the responses differ in \(new) new \(new == 1 ? "way" : "ways")" }
        let isSilent = urls.flatMap(\.arms).contains { [arms[0].name, other.name].contains($0.name) && $0.isSilent }
        if isSilent || responses.contains(where: \.isUnfounded) { return "not all responses could be compared" }
        return differences.isEmpty ? "no difference of the responses found" : "the responses differ in known ways"
    }
}

extension Report.Target.Arm {
    /// Whether there are no responses.
    fileprivate var isSilent: Bool { summary.statuses.isEmpty }
}

extension Report.Figures {
    fileprivate init(_ arm: Arm, _ figures: [ArmFigures], isOfProgram: Bool) {
        func sum(_ number: (ArmFigures) -> Int) -> Int { figures.reduce(0) { $0 + number($1) } }
        /// Each process has some of it: 0 was not measured.
        func most(_ number: (ArmFigures) -> Int) -> Int? { figures.map(number).max().flatMap { $0 > 0 ? $0 : nil } }
        func counts<Key: Hashable>(_ part: (ArmFigures) -> [Key: Int]) -> [Key: Int] {
            figures.reduce(into: [:]) { $0.merge(part($1), uniquingKeysWith: +) }
        }
        let specification = arm.specification
        (name, self.arm, options) = (arm.name, specification.text, specification.origin)
        (transport, library) = (specification.kind.rawValue, arm.library)
        requests = sum(\.contents.count)
        statuses = counts(\.contents.outcomes.statuses)
        (errors, warmUpErrors) = (counts(\.contents.outcomes.errors), counts(\.warmUpErrors))
        errorTexts = figures.reduce(into: [:]) { $0.merge($1.contents.errorTexts) { first, _ in first } }
        let values = BlockFigures(figures.flatMap(\.blocks)).values
        (p50Ms, p95Ms, p99Ms) = (values[.p50], values[.p95], values[.p99])
        (ratePerSecond, cpuMicrosecondsPerRequest) = (values[.rate], values[.cpu])
        (peakResidentKB, threads, descriptors) = (most(\.peakResidentKB), most(\.threads), most(\.descriptors))
        connections = sum(\.connections) + sum(\.reuses) > 0 ? sum(\.connections) : nil
        contextSwitches = sum(\.contextSwitches)
        wireBytes = isOfProgram ? nil : sum(\.wireBytes)
        (coldsMs, warmUpMs) = (figures[0].colds, figures.flatMap(\.warmUp))
        coldMs = coldsMs.isEmpty ? nil : coldsMs.sorted()[(coldsMs.count - 1) / 2]
        let known = sum(\.phaseCount)
        if known > 0 {
            phases = figures.reduce(into: [:]) { $0.merge($1.phases, uniquingKeysWith: +) }
                .mapValues { $0 / Double(known) }
        }
        let reported = figures.compactMap(\.transport)
        if !reported.isEmpty { statistics = reported.reduce(TransportFigures(), +) }
        ended = figures.lazy.compactMap(\.ended).first
        (notCompared, partsNotCompared) = (sum(\.contents.notCompared), sum(\.contents.partsNotCompared))
        histogram = Self.histogram(figures.flatMap(\.blocks).flatMap(\.latencies))
    }

    static func histogram(_ latencies: [Double]) -> [[Int]] {
        // Requests longer than a day are in the last bucket.
        let longest: UInt64 = 86_400_000_000
        var histogram = Histogram<UInt64>(
            lowestDiscernibleValue: 1, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
        for latency in latencies { histogram.record(UInt64(min(Double(longest), max(0, latency * 1000)).rounded())) }
        return histogram.recordedValues().map { [Int($0.value), Int($0.count)] }
    }
}

extension Report.Difference {
    fileprivate init(_ difference: ContentDifference, url: String, arms: [String]) {
        (self.url, self.arms, self.where, status) = (url, arms, difference.place, difference.status)
        (share, noiseShare) = (difference.share, difference.noiseShare)
        (known, why, since) = (difference.known?.name, difference.known?.reason, difference.known?.since)
        example = Example(left: difference.example.left, right: difference.example.right)
        text = difference.text((arms[0], arms[1]))
    }
}

extension Report.Responses {
    fileprivate init(_ contents: ContentComparison, of arm: String) {
        self.arm = arm
        isUnfounded = contents.isUnfounded
        setAside = contents.noise.map { Part(where: $0.place, noiseShare: $0.share) }
        (unlistedNew, unlistedKnown) = (contents.unlisted.new, contents.unlisted.known)
        let finding =
            if contents.isEmpty {
                "none over \(arm)"
            } else if contents.isUnfounded {
                "nothing to say of \(arm), since two copies of the first arm differ"
            } else if contents.hasUncomparedBodies {
                "no differences over \(arm) but for the bodies, which change with each response and were not compared"
            } else {
                "no differences over \(arm)\(contents.isPartial ? " in what was compared" : "")"
            }
        text = "responses: \(finding)"
    }

    /// What to say of the differences that are not listed.
    var rest: [String] {
        [(unlistedNew, "new"), (unlistedKnown, "known")].filter { $0.0 > 0 }.map { "\($0.0) more \($0.1) differences" }
    }

    /// What is set aside, at most ten parts of it by name.
    var aside: [String] {
        let shown = setAside.prefix(10).map { part in
            let percent = "\(Int((part.noiseShare * 100).rounded())) %"
            if part.noiseShare >= ContentComparison.shareBeyondChance {
                return "\(part.where) is another one for the copy of the first arm, in \(percent)"
            }
            return "\(part.where) changes from request to request"
                + (part.noiseShare > 0 ? " (two copies differ in \(percent))" : "")
        }
        return setAside.count > 10 ? shown + ["and \(setAside.count - 10) more parts"] : shown
    }
}
