import Foundation
import NetworkComparison
import NetworkLayer

/// The design of a comparison: how much is sent, how, and when it ends.
struct ExperimentDesign: Sendable {
    /// The requests for each URL and arm, at most.
    var requests: Int
    /// The requests at once of a closed load.
    var concurrency: Int
    /// The intended requests a second of an open load.
    var rate: Double?
    /// The requests of each process and URL before anything counts.
    var warmUp: Int
    /// The processes of each arm, one after another, at most.
    var mostProcesses = 10
    /// How many times as many requests each URL gets.
    var weights: [Int]
    /// The half-width of the median's interval, as a share, at which the comparison ends.
    var precision: Double?
    /// The time after which no further round begins.
    var time: Duration?
    /// The longest time that one block may take.
    var patience: Duration
    /// The seed of the order of the blocks, and of the bootstrap.
    var seed: UInt64
    /// Whether a block is a run of a program.
    var isOfProgram = false
    /// Whether the requests are also looked at as they are sent.
    var showsWire = false

    /// The most rounds that the requests are divided into. There are fewer if a block would be too small to keep all
    /// workers busy.
    static let mostRounds = 45
    /// The fewest rounds of which the last third shows what a process keeps of requests; fewer are all timed.
    private static let roundsToWatch = 21
    /// The rounds before the precision is looked at for the first time.
    static let roundsBeforePrecision = 10

    /// What arms are compared by.
    var metrics: [Metric] { isOfProgram ? [.p50, .cpu] : Metric.allCases }

    /// The number of rounds.
    var rounds: Int { isOfProgram ? requests : max(1, min(Self.mostRounds, requests / (4 * concurrency))) }

    /// The number of rounds, after those that are timed, in which each arm's last process goes on: what it keeps of
    /// requests shows in one that has carried many.
    var watchedRounds: Int { isOfProgram || rounds < Self.roundsToWatch ? 0 : rounds / 3 }

    /// The number of rounds whose times count.
    var timedRounds: Int { rounds - watchedRounds }

    /// The number of processes of each arm. A program's run is a process of its own.
    var processes: Int { isOfProgram ? timedRounds : min(mostProcesses, timedRounds) }

    /// Returns the number of the process that runs a timed round.
    func process(ofRound round: Int) -> Int { round * processes / timedRounds }

    /// The number of requests in a block.
    var blockSize: Int { requests / rounds }
}

/// What one arm did for one URL.
struct ArmFigures: Sendable {
    var blocks: [Block] = []
    var contents = ContentTally()
    var (connections, reuses, contextSwitches, wireBytes) = (0, 0, 0, 0)
    var (peakResidentKB, threads, descriptors) = (0, 0, 0)
    var phases = PhaseTimes()
    /// The request as it was sent.
    var wire: WireView?
    /// How the arm's process ended, if it did.
    var ended: String?

    /// Adds a block.
    mutating func add(_ report: BlockReport, as kind: BlockKind) {
        for (number, response) in report.new { contents.learn(response, as: number) }
        connections += report.connections
        reuses += report.reuses
        peakResidentKB = max(peakResidentKB, report.peakResidentKB)
        threads = max(threads, report.threads)
        descriptors = max(descriptors, report.descriptors)
        guard kind != .warmUp else { return }
        for (number, times) in report.outcomes { contents.count(number, times: times) }
        contextSwitches += report.contextSwitches
        wireBytes += report.wireBytes
        guard case .timed(let process) = kind else { return }
        phases += report.phases
        blocks.append(
            Block(
                latencies: report.latencies, seconds: report.seconds, cpuMicroseconds: report.cpuMicroseconds,
                requests: report.requests, process: process))
    }
}

/// What a block is for.
enum BlockKind: Equatable {
    /// Nothing of it counts: its requests come in no random order.
    case warmUp
    /// All of it counts, as a part of what the process with this number did.
    case timed(process: Int)
    /// Its responses count, and what the process holds after it.
    case watched
}

/// An arm: its process and what it did for each URL.
struct Arm: Sendable {
    let specification: ArmSpecification
    /// Whether this is the second copy of the first arm.
    let isCopy: Bool
    var process: ArmProcess?
    var library = ""
    /// The time of each process's first request, its connection included, in milliseconds.
    var colds: [Double] = []
    /// The times of the warm-up, in milliseconds.
    var warmUp: [Double] = []
    var figures: [ArmFigures]
    /// What the process holds now, and what it held after each round.
    private(set) var (state, states) = (
        Growth.State(process: 0, requests: 0, memory: 0, descriptors: 0), [Growth.State]()
    )

    init(_ specification: ArmSpecification, urls: Int, isCopy: Bool) {
        (self.specification, self.isCopy) = (specification, isCopy)
        figures = Array(repeating: ArmFigures(), count: urls)
    }

    /// Notes what the process holds after a block.
    mutating func note(_ report: BlockReport) {
        state.requests += report.requests
        (state.memory, state.descriptors) = (report.memory, report.descriptors)
    }

    /// Notes that a round is over.
    mutating func noteRound() { states.append(state) }

    /// Leaves the process, which has ended.
    mutating func leaveProcess() {
        process = nil
        state.process += 1
    }

    var name: String { isCopy ? "\(specification.name) again" : specification.name }

    /// The median of the processes' first requests, in milliseconds.
    var coldMilliseconds: Double? {
        colds.isEmpty ? nil : colds.sorted()[(colds.count - 1) / 2]
    }
}

/// Runs arms in turns, in random order, each in processes of its own, and never two at the same time.
struct Experiment: Sendable {
    let design: ExperimentDesign
    /// The arguments that each child process parses.
    let arguments: [String]
    let urls: [String]
    /// Whether each request is all in the name that it is shown by.
    var arePlain: [Bool] = []
    /// Called after each block, with the number of rounds before its own.
    var progress: @Sendable (_ arms: [Arm], _ rounds: Int) -> Void

    /// Returns the arms with their figures; the copy of the first arm is the last one.
    /// - Throws: `CancellationError`; ``ToolFailure`` for arguments that an arm can't use.
    func run(_ specifications: [ArmSpecification]) async throws -> [Arm] {
        var arms = specifications.map { Arm($0, urls: urls.count, isCopy: false) }
        arms.append(Arm(specifications[0], urls: urls.count, isCopy: true))
        var generator = SeededGenerator(seed: design.seed)
        let start = ContinuousClock.now
        func isOver(_ share: Double) -> Bool { design.time.map { ContinuousClock.now - start >= $0 * share } ?? false }
        // The rounds that are watched have a third of the time, too.
        let timedShare = Double(design.timedRounds) / Double(design.rounds)
        var process: Int?
        for round in 0..<design.timedRounds where round == 0 || !isOver(timedShare) {
            if design.process(ofRound: round) != process {
                if let precision = design.precision, round >= ExperimentDesign.roundsBeforePrecision,
                    isPrecise(arms, precision)
                {
                    break
                }
                process = design.process(ofRound: round)
                try await beginProcesses(of: &arms, using: &generator)
            }
            try await run(round, of: &arms, as: .timed(process: design.process(ofRound: round)), using: &generator)
        }
        for round in design.timedRounds..<design.rounds where !isOver(1) {
            try await run(round, of: &arms, as: .watched, using: &generator)
        }
        if design.showsWire { try await lookAtTheWire(&arms) }
        return arms
    }

    private func run(
        _ round: Int, of arms: inout [Arm], as kind: BlockKind, using generator: inout SeededGenerator
    ) async throws {
        for url in urls.indices.shuffled(using: &generator) {
            for arm in arms.indices.shuffled(using: &generator) {
                try await run(arm, of: &arms, url, design.blockSize * design.weights[url], as: kind)
                progress(arms, round)
            }
        }
        for arm in arms.indices { arms[arm].noteRound() }
    }

    /// Gives each arm another process, in random order, and warms it up.
    private func beginProcesses(of arms: inout [Arm], using generator: inout SeededGenerator) async throws {
        for arm in arms.indices.shuffled(using: &generator) {
            // A program's process is that of its run.
            if !design.isOfProgram, let process = arms[arm].process {
                arms[arm].leaveProcess()
                await process.end()
            }
            guard arms[arm].process == nil else { continue }
            for url in urls.indices {
                guard let first = try await run(arm, of: &arms, url, 1, as: .warmUp) else { continue }
                if url == 0 { arms[arm].colds += first.latencies }
                guard design.warmUp > 0 else { continue }
                let warm = try await run(arm, of: &arms, url, design.warmUp, as: .warmUp)
                arms[arm].warmUp += warm?.latencies ?? []
            }
        }
    }

    /// Runs a block of an arm for a URL, unless the arm has ended there.
    @discardableResult
    private func run(
        _ arm: Int, of arms: inout [Arm], _ url: Int, _ requests: Int, as kind: BlockKind
    ) async throws -> BlockReport? {
        let order = BlockOrder(
            url: url, requests: requests, concurrency: design.concurrency, rate: requests > 1 ? design.rate : nil)
        let report = try await run(order, of: &arms[arm])
        if let report { arms[arm].figures[url].add(report, as: kind) }
        return report
    }

    /// Runs an order, unless the arm has ended at its URL.
    func run(_ order: BlockOrder, of arm: inout Arm) async throws -> BlockReport? {
        guard arm.figures[order.url].ended == nil else { return nil }
        do {
            let report = try await process(of: &arm).run(order, within: design.patience)
            arm.note(report)
            return report
        } catch let end as ArmProcess.Ended {
            let fetch = arm.specification.fetch
            let command =
                arePlain.indices.contains(order.url) && arePlain[order.url]
                ? "'\(fetch) \(urls[order.url])' may show it" : "'\(fetch)' with this request may show it"
            arm.figures[order.url].ended = design.isOfProgram ? end.text : "\(end.text); \(command)"
            // Another process goes on with the other URLs.
            arm.leaveProcess()
            return nil
        }
    }

    private func process(of arm: inout Arm) async throws -> ArmProcess {
        if let process = arm.process { return process }
        let process = try ArmProcess(arm.specification)
        arm.library = try await process.begin(arm.specification, arguments: arguments, within: design.patience)
        arm.process = process
        return process
    }

    /// Whether the median of each URL is known well enough.
    private func isPrecise(_ arms: [Arm], _ precision: Double) -> Bool {
        var generator = SeededGenerator(seed: design.seed)
        // That of the verdicts, or the report would show wider intervals.
        let confidence = Verdicts.confidence(urls: urls.count, arms: arms.count - 1, metrics: design.metrics.count)
        return urls.indices.allSatisfy { url in
            arms.dropFirst().filter { !$0.isCopy }.allSatisfy { arm in
                guard arm.figures[url].ended == nil, arms[0].figures[url].ended == nil else { return true }
                let pairs = PairedComparison(arms[0].figures[url].blocks, arm.figures[url].blocks, using: &generator)
                guard let interval = pairs.interval(.p50, confidence: confidence) else { return false }
                return interval.halfWidth <= precision
            }
        }
    }
}
