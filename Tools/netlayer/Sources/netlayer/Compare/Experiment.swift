import Foundation
import NetworkComparison
import NetworkLayer

/// Runs arms in processes of their own: in turns, in random order, and never two at the same time; those of an open
/// load at the same time, over one schedule.
struct Experiment: Sendable {
    let design: ExperimentDesign
    /// The arguments that each child process parses.
    let arguments: [String]
    /// The files that the arguments name, as this process has read them.
    let files: [String: Data]
    let urls: [String]
    /// Whether each request is all in the name that it is shown by.
    let arePlain: [Bool]
    /// Called after each block, with the number of rounds before its own.
    let progress: @Sendable (_ arms: [Arm], _ rounds: Int) -> Void

    /// Returns the arms with their figures; the copy of the first arm is the last one.
    func run(_ specifications: [ArmSpecification]) async throws -> [Arm] {
        var arms = specifications.map { Arm($0, urls: urls.count) }
        arms.append(Arm(specifications[0], urls: urls.count, isCopy: true))
        var generator = SeededGenerator(seed: design.seed)
        var schedule = ExperimentSchedule(design)
        let start = ContinuousClock.now
        let end = design.time.map { start + $0 }
        var process: Int?
        while let kind = schedule.next(after: ContinuousClock.now - start) {
            if case .timed(let number) = kind, number != process {
                if let precision = design.precision, schedule.round > design.roundsBeforePrecision,
                    isPrecise(arms, precision)
                {
                    schedule.endTiming()
                    continue
                }
                process = number
                try await beginProcesses(of: &arms, after: schedule.round - 1, until: end, using: &generator)
            }
            let seconds = schedule.roundSeconds(after: ContinuousClock.now - start)
            let round = schedule.round - 1
            let size = design.blockSize(of: round, within: seconds, at: pace(of: arms))
            try await run(round, of: &arms, as: kind, size: size, until: end, using: &generator)
        }
        if design.showsWire { try await lookAtTheWire(&arms) }
        return arms
    }

    private func run(
        _ round: Int, of arms: inout [Arm], as kind: BlockKind, size: Int, until end: ContinuousClock.Instant?,
        using generator: inout SeededGenerator
    ) async throws {
        for (place, url) in urls.indices.shuffled(using: &generator).enumerated() {
            let requests = size * design.weights[url]
            for arm in design.rate == nil ? arms.indices.shuffled(using: &generator) : [0] {
                // Without one URL's blocks there would be nothing to say.
                if let end, end <= .now, round > 0 || place > 0 { return }
                if let rate = design.rate {
                    try await runAll(&arms, at: rate, seed: generator.next(), url, requests, as: kind, in: round)
                } else {
                    try await run(arm, of: &arms, url, requests, as: kind, in: round)
                }
                progress(arms, round)
            }
        }
        for arm in arms.indices { arms[arm].noteRound() }
    }

    /// Returns the time of one request for each URL over each arm, as the latest blocks took it, in seconds.
    private func pace(of arms: [Arm]) -> Double {
        let paces = arms.flatMap { arm in
            zip(arm.figures, design.weights).filter { $0.0.ended == nil }.map { design.pace($0.pace) * Double($1) }
        }
        return paces.reduce(0, +)
    }

    /// Gives each arm another process after some rounds, in random order, and warms it up.
    private func beginProcesses(
        of arms: inout [Arm], after rounds: Int, until end: ContinuousClock.Instant?,
        using generator: inout SeededGenerator
    ) async throws {
        for arm in arms.indices.shuffled(using: &generator) {
            // A program's process is that of its run.
            if !design.isOfProgram, let process = arms[arm].process {
                arms[arm].leaveProcess()
                await process.end()
            }
            guard arms[arm].process == nil else { continue }
            for url in urls.indices {
                if let end, end <= .now { return }
                let first = try await run(arm, of: &arms, url, 1, as: .warmUp, in: rounds)
                progress(arms, rounds)
                guard let first else { continue }
                arms[arm].figures[url].colds += first.latencies
                // The first request counts towards the time of the warm-up.
                let left = design.warmUpSeconds(arms: arms.count).map { $0 - first.seconds } ?? 1
                guard design.warmUp > 0, left > 0 else { continue }
                let warm = try await run(arm, of: &arms, url, design.warmUp, as: .warmUp, in: rounds)
                arms[arm].figures[url].warmUp += warm?.latencies ?? []
                progress(arms, rounds)
            }
        }
        for url in urls.indices {
            let refusals = arms.compactMap { $0.figures[url].refusal }
            guard refusals.count == arms.count else { continue }
            throw ToolFailure(.refusedBeforeSending, "no arm can send \(urls[url]): \(refusals[0])")
        }
    }

    /// Runs the blocks of all arms for a URL at the same time.
    private func runAll(
        _ arms: inout [Arm], at rate: Double, seed: UInt64, _ url: Int, _ requests: Int, as kind: BlockKind,
        in round: Int
    ) async throws {
        let alive = arms.indices.filter { arms[$0].figures[url].ended == nil }
        // Each process lives, and reads its order, before the first start. One that can't be started is reported below.
        for index in alive { _ = try? await process(of: &arms[index]) }
        let begin = ContinuousClock.now + .milliseconds(100)
        try await withThrowingTaskGroup(of: (Int, Arm).self) { group in
            for (place, index) in alive.enumerated() {
                let starts = OpenSchedule(rate: rate, arms: alive.count, arm: place, seed: seed, begin: begin)
                let order = BlockOrder(url: url, requests: requests, concurrency: design.concurrency, starts: starts)
                group.addTask { [arm = arms[index]] in
                    var arm = arm
                    if let report = try await run(order, of: &arm) { arm.figures[url].add(report, as: kind, in: round) }
                    return (index, arm)
                }
            }
            for try await (index, arm) in group { arms[index] = arm }
        }
    }

    /// Runs a block of an arm for a URL, unless the arm has ended there.
    @discardableResult
    private func run(
        _ arm: Int, of arms: inout [Arm], _ url: Int, _ requests: Int, as kind: BlockKind, in round: Int
    ) async throws -> BlockReport? {
        let isWarmUp = kind == .warmUp
        let order = BlockOrder(
            url: url, requests: requests, concurrency: design.concurrency,
            seconds: isWarmUp && requests > 1 ? design.warmUpSeconds(arms: arms.count) : design.blockSeconds)
        let report = try await run(order, of: &arms[arm])
        if let report { arms[arm].figures[url].add(report, as: kind, in: round) }
        return report
    }

    /// Runs an order, unless the arm has ended at its URL.
    func run(_ order: BlockOrder, of arm: inout Arm) async throws -> BlockReport? {
        guard arm.figures[order.url].ended == nil else { return nil }
        do {
            let report = try await process(of: &arm).run(order, within: design.patience(for: order))
            arm.note(report)
            return report
        } catch let end as ArmProcess.Ended {
            let fetch = arm.specification.fetch
            // A program is no request.
            let isPlain = !design.isOfProgram && arePlain[order.url]
            let command = isPlain ? "'\(fetch) \(urls[order.url])'" : "'\(fetch)' with this request"
            arm.figures[order.url].ended = design.isOfProgram ? end.text : "\(end.text); \(command) may show it"
            // Another process goes on with the other URLs.
            arm.leaveProcess()
            return nil
        }
    }

    private func process(of arm: inout Arm) async throws -> ArmProcess {
        if let process = arm.process { return process }
        let process = try ArmProcess(arm.specification, usesNoProxy: arm.usesNoProxy)
        arm.library = try await process.begin(
            arm.specification, arguments: arguments, files: files, within: ExperimentDesign.startPatience)
        arm.process = process
        return process
    }

    /// Whether the median of each URL is known well enough.
    private func isPrecise(_ arms: [Arm], _ precision: Double) -> Bool {
        var generator = SeededGenerator(seed: design.seed)
        // That of the verdicts, or the report would show wider intervals.
        let confidence = Verdicts.confidence(comparisons: design.comparisons, metrics: design.metrics.count)
        return urls.indices.allSatisfy { url in
            let first = arms[0].figures[url]
            return arms.dropFirst().dropLast().map { $0.figures[url] }.allSatisfy { other in
                if first.ended != nil || other.ended != nil { return true }
                let pairs = PairedComparison(first.blocks, other.blocks, using: &generator)
                return pairs.interval(.p50, confidence: confidence).map { $0.halfWidth <= precision } ?? false
            }
        }
    }
}
