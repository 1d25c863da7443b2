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
    /// The requests of each arm and URL before anything counts.
    var warmUp: Int
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
    static let mostRounds = 30
    /// The rounds before the precision is looked at for the first time.
    static let roundsBeforePrecision = 10

    /// What arms are compared by.
    var metrics: [Metric] { isOfProgram ? [.p50, .cpu] : Metric.allCases }

    /// The number of rounds.
    var rounds: Int { isOfProgram ? requests : max(1, min(Self.mostRounds, requests / (4 * concurrency))) }

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
    /// - Parameter counting: Whether its times and responses count; those of the warm-up come in no random order.
    mutating func add(_ report: BlockReport, counting: Bool) {
        for (number, response) in report.new { contents.learn(response, as: number) }
        connections += report.connections
        reuses += report.reuses
        peakResidentKB = max(peakResidentKB, report.peakResidentKB)
        threads = max(threads, report.threads)
        descriptors = max(descriptors, report.descriptors)
        guard counting else { return }
        for (number, times) in report.outcomes { contents.count(number, times: times) }
        contextSwitches += report.contextSwitches
        wireBytes += report.wireBytes
        phases += report.phases
        blocks.append(
            Block(
                latencies: report.latencies, seconds: report.seconds, cpuMicroseconds: report.cpuMicroseconds,
                requests: report.requests))
    }
}

/// An arm: its process and what it did for each URL.
struct Arm: Sendable {
    let specification: ArmSpecification
    /// Whether this is the second copy of the first arm.
    let isCopy: Bool
    var process: ArmProcess?
    var library = ""
    /// The time of the process's first request, its connection included, in milliseconds.
    var coldMilliseconds: Double?
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
}

/// Runs arms in turns, in random order, each in a process of its own, and never two at the same time.
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
        try await warmUp(&arms)
        let start = ContinuousClock.now
        let size = design.blockSize
        for round in 0..<design.rounds {
            if let time = design.time, ContinuousClock.now - start >= time { break }
            if let precision = design.precision, round >= ExperimentDesign.roundsBeforePrecision,
                isPrecise(arms, precision)
            {
                break
            }
            for url in urls.indices.shuffled(using: &generator) {
                for arm in arms.indices.shuffled(using: &generator) {
                    try await run(arm, of: &arms, url, size * design.weights[url], counting: true)
                    progress(arms, round)
                }
            }
            for arm in arms.indices { arms[arm].noteRound() }
        }
        if design.showsWire { try await lookAtTheWire(&arms) }
        return arms
    }

    private func warmUp(_ arms: inout [Arm]) async throws {
        for arm in arms.indices {
            for url in urls.indices {
                guard let first = try await run(arm, of: &arms, url, 1, counting: false) else { continue }
                if url == 0 { arms[arm].coldMilliseconds = first.latencies.first }
                guard design.warmUp > 0 else { continue }
                let warm = try await run(arm, of: &arms, url, design.warmUp, counting: false)
                arms[arm].warmUp += warm?.latencies ?? []
            }
        }
    }

    /// Runs a block of an arm for a URL, unless the arm has ended there.
    @discardableResult
    private func run(
        _ arm: Int, of arms: inout [Arm], _ url: Int, _ requests: Int, counting: Bool
    ) async throws -> BlockReport? {
        let order = BlockOrder(
            url: url, requests: requests, concurrency: design.concurrency, rate: requests > 1 ? design.rate : nil)
        let report = try await run(order, of: &arms[arm])
        if let report { arms[arm].figures[url].add(report, counting: counting) }
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
            let transport = arm.specification.kind.rawValue
            let command =
                arePlain.indices.contains(order.url) && arePlain[order.url]
                ? "'netlayer fetch --transport \(transport) \(urls[order.url])' shows it"
                : "'netlayer fetch --transport \(transport)' with this request shows it"
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
