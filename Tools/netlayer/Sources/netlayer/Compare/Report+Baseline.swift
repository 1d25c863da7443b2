import NetworkComparison

/// An earlier report is the baseline of another one.
extension Report {
    /// Checks that there is something to compare, before anything is sent.
    func check(arms names: [String], requests: [String]) throws {
        guard arms.contains(where: { names.contains($0.name) }) else {
            throw ToolFailure(.usage, "the baseline has none of these arms; it has \(Self.shown(arms.map(\.name)))")
        }
        guard urls.contains(where: { $0.request.map(requests.contains) == true }) else {
            throw ToolFailure(
                .usage, "the baseline has none of these requests; it has \(Self.shown(urls.map(\.url)))")
        }
    }

    /// Returns the number of arms and requests that the baseline has too.
    func comparisons(arms: [String], requests: [String]) -> Int {
        requests.reduce(0) { count, request in
            let target = urls.first { $0.request == request }
            return count + arms.count { name in target?.arms.contains { $0.name == name } == true }
        }
    }

    private static func shown(_ names: [String]) -> String {
        let shown = names.prefix(8).map { "'\(TerminalText.line($0))'" }.joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }

    /// Returns what this report has and the baseline lacks, in words.
    func missing(in baseline: Report) -> [String] {
        let then = baseline.arms.map(\.name)
        return arms.map(\.name).filter { !then.contains($0) }
            .map { "the baseline has no arm '\($0)'; it has \(Self.shown(then))" }
            + urls.filter { $0.counterpart(in: baseline) == nil }.map { "the baseline has no such request: \($0.url)" }
    }

    /// Returns what was different then, apart from the arms themselves.
    func warnings(since baseline: Report) -> [String] {
        var facts: [(name: String, then: String, now: String)] = []
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where !["date", "netlayer"].contains(name) {
            facts.append((name, baseline.environment[name] ?? "unknown", value))
        }
        for arm in arms {
            guard let before = baseline.arms.first(where: { $0.name == arm.name }) else { continue }
            facts.append((arm.name, before.library, arm.library))
            facts.append(("the options of \(arm.name)", before.options, arm.options))
        }
        facts.append(("load", baseline.design.load, design.load))
        facts.append(("warm-up", "\(baseline.design.warmUp) requests", "\(design.warmUp) requests"))
        for url in urls {
            for arm in url.arms where arms.contains(where: { $0.name == arm.name }) {
                guard let before = url.before(arm, in: baseline), !arm.hasBlocks(like: before) else { continue }
                facts.append(
                    ("the blocks of \(arm.name)", "\(before.blockSize) requests", "\(arm.blockSize) requests"))
            }
        }
        return facts.filter { $0.then != $0.now }
            .map { "the baseline differs in \($0.name): '\($0.then)' then, '\($0.now)' now" }
    }
}

extension Report.Design {
    var load: String { rate.map { "\($0) requests a second" } ?? "\(concurrency) requests at once" }
}

extension Report.Target {
    /// Returns what a baseline has of the same request. Two of them may be shown alike, without queries and bodies.
    fileprivate func counterpart(in baseline: Report) -> Report.Target? {
        baseline.urls.first { $0.request == request && (request != nil || $0.url == url) }
    }

    fileprivate func before(_ arm: Arm, in baseline: Report) -> Arm? {
        counterpart(in: baseline)?.arms.first { $0.name == arm.name }
    }

    /// Returns the verdicts on how each arm has changed, where both reports have it.
    func changes(
        since baseline: Report, noise: [Metric: Double], design: ExperimentDesign, isCopy: (String) -> Bool,
        using generator: inout SeededGenerator
    ) -> [Verdict] {
        arms.filter { !isCopy($0.name) }.flatMap { arm -> [Verdict] in
            guard let before = before(arm, in: baseline) else { return [] }
            return Verdicts.verdicts(
                url: url, (arm.name, arm.blocks), ("the baseline", before.blocks), arePaired: false, noise: noise,
                comparisons: design.comparisons, metrics: design.metrics,
                // Equal arms would differ.
                obstacle: arm.hasBlocks(like: before) ? nil : "no verdict, since the blocks had another size",
                using: &generator)
        }
    }
}

extension Report.Target.Arm {
    /// The median size of the blocks, in requests.
    fileprivate var blockSize: Int { blocks.isEmpty ? 0 : blocks.map(\.requests).sorted()[blocks.count / 2] }

    /// Whether the blocks may be compared: a block begins with idle workers and cold caches, so that a request of a
    /// small one takes longer.
    fileprivate func hasBlocks(like other: Self) -> Bool {
        let (least, most) = (min(blockSize, other.blockSize), max(blockSize, other.blockSize))
        return least == 0 || Double(most) <= 1.5 * Double(least)
    }
}
