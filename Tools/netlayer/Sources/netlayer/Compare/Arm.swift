import NetworkComparison

/// What one arm did for one URL.
struct ArmFigures: Sendable {
    var blocks: [Block] = []
    var contents = ContentTally()
    /// The responses to requests that made a connection, those of warm-ups included.
    var firstContents = ContentTally()
    var (connections, reuses, contextSwitches, wireBytes) = (0, 0, 0, 0)
    var (peakResidentKB, threads, descriptors) = (0, 0, 0)
    /// The summed times of the steps of requests, and the number of requests whose steps are known.
    var (phases, phaseCount) = ([Phase: Double](), 0)
    /// The time of the latest block for each of its requests, in seconds.
    var pace = 0.0
    /// What the transport did for the timed and the watched blocks.
    var transport: TransportFigures?
    /// The times of each process's first request, and those of the warm-up, in milliseconds.
    var (colds, warmUp) = ([Double](), [Double]())
    /// The failures of first requests and warm-ups, by code.
    var warmUpErrors: [String: Int] = [:]
    /// Why the transport refuses the request before it sends anything, if it does.
    var refusal: String?
    var wire: WireView?
    var ended: String?

    mutating func add(_ report: BlockReport, as kind: BlockKind, in round: Int) {
        // In order: a response may have the body of one before.
        for (number, response) in report.new.sorted(by: { $0.key < $1.key }) {
            contents.learn(response, as: number)
            firstContents.learn(response, as: number)
        }
        connections += report.connections
        reuses += report.reuses
        peakResidentKB = max(peakResidentKB, report.peakResidentKB)
        threads = max(threads, report.threads)
        descriptors = max(descriptors, report.descriptors)
        refusal = report.refusal
        pace = report.seconds / Double(max(1, report.requests))
        // The rounds that are only watched, and the warm-up of the next process, follow those of the last one.
        var process = blocks.last?.process ?? 0
        if case .timed(let number) = kind { process = number }
        if kind == .warmUp, !blocks.isEmpty { process += 1 }
        let place = ExperimentRound(process: process, number: round)
        // Where the transport does not report its connections, a process's first request is known to make one.
        let isCold = kind == .warmUp && report.requests == 1 && report.connections + report.reuses == 0
        firstContents.count(isCold ? report.outcomes : report.firstOutcomes, in: place)
        guard kind != .warmUp else {
            for (number, times) in report.outcomes {
                if let code = contents.errorCode(of: number) { warmUpErrors[code, default: 0] += times }
            }
            return
        }
        contents.count(report.outcomes, in: place)
        contextSwitches += report.contextSwitches
        wireBytes += report.wireBytes
        if let figures = report.transport { transport = transport.map { $0 + figures } ?? figures }
        guard case .timed(let process) = kind else { return }
        phases.merge(report.phases, uniquingKeysWith: +)
        phaseCount += report.phaseCount
        let isFirst = blocks.last?.process != process
        blocks.append(
            Block(
                latencies: report.latencies, seconds: report.seconds, cpuMicroseconds: report.cpuMicroseconds,
                requests: report.requests, process: process, colds: isFirst ? colds.suffix(1) : [],
                connections: report.connections + report.reuses > 0 ? report.connections : nil,
                attempts: report.attempts > 0 ? report.attempts : nil))
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
    /// Whether the next process has none of the environment's proxies.
    var usesNoProxy = false
    var library = ""
    var figures: [ArmFigures]
    /// What the process holds now, and what it held after each round.
    private(set) var (state, states) = (Growth.State(), [Growth.State]())

    init(_ specification: ArmSpecification, urls: Int, isCopy: Bool = false) {
        (self.specification, self.isCopy) = (specification, isCopy)
        figures = Array(repeating: ArmFigures(), count: urls)
    }

    var name: String { isCopy ? specification.nameOfCopy : specification.name }

    mutating func note(_ report: BlockReport) {
        state.requests += report.requests
        (state.memory, state.descriptors) = (report.memory, report.descriptors)
    }

    mutating func noteRound() { states.append(state) }

    /// Leaves the process, which has ended.
    mutating func leaveProcess() {
        process = nil
        state.process += 1
    }
}
