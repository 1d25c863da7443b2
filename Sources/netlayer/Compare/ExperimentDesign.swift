import NetworkComparison

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
    /// The half-width of the median's interval, as a share, at which the timed rounds end.
    var precision: Double?
    /// The time that the rounds are fitted into.
    var time: Duration?
    /// The timeout of each request, in seconds.
    var timeout: Double
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
    /// How often each worker has a turn in a block, at least.
    private static let leastTurns = 4
    /// The requests for each URL and arm, at most, of a comparison that ends by its time.
    static let mostRequestsOfTime = 100_000

    /// What arms are compared by.
    var metrics: [Metric] { isOfProgram ? [.p50, .cpu] : Metric.allCases }

    /// The number of rounds, at most.
    var rounds: Int {
        isOfProgram ? requests : max(1, min(Self.mostRounds, requests / (Self.leastTurns * concurrency)))
    }

    /// The number of rounds, after those that are timed, in which each arm's last process goes on: what it keeps of
    /// requests shows in one that has carried many.
    var watchedRounds: Int { isOfProgram || rounds < Self.roundsToWatch ? 0 : rounds / 3 }

    /// The number of rounds whose times count, at most.
    var timedRounds: Int { rounds - watchedRounds }

    /// The number of processes of each arm, at most. A program's run is a process of its own.
    var processes: Int { isOfProgram ? timedRounds : min(mostProcesses, timedRounds) }

    /// The number of requests in a block, at most.
    var blockSize: Int { requests / rounds }

    /// Returns the number of requests in a block, at which the rest of the rounds fill the rest of their time.
    /// - Parameters:
    ///   - roundSeconds: The time for each of the rounds that are left; `nil` without a limit.
    ///   - pace: The time of one request for each URL over each arm, weights included, in seconds.
    func blockSize(within roundSeconds: Double?, at pace: Double) -> Int {
        guard let roundSeconds, pace > 0, !isOfProgram else { return blockSize }
        let fitting = min(max(0, roundSeconds) / pace, Double(blockSize))
        return max(Int(fitting), min(blockSize, Self.leastTurns * concurrency))
    }

    /// Returns the longest time that a block may take. Each request has its own timeout, and a worker sends several; the
    /// intervals of an open load are no sign of a hang, however long.
    func patience(of requests: Int) -> Duration {
        let perWorker = (requests + concurrency - 1) / concurrency
        let intended = rate.map { Double(requests) / $0 } ?? 0
        return .seconds(min(Double(perWorker) * timeout, Self.longestPatience) + intended + Self.shortestPatience)
    }

    /// The longest time for the requests of a block and the time for the block itself, in seconds.
    private static let (longestPatience, shortestPatience) = (3_600.0, 10.0)
}

/// The order of the rounds of a comparison: which process of each arm runs the next one, and when there is none. Each
/// process has an equal share of the rounds, or of the time where that is over first.
struct ExperimentSchedule {
    private let design: ExperimentDesign
    /// The number of rounds that have begun.
    private(set) var round = 0
    private var isTimed = true
    /// The share of the timed rounds that the current process has, and its number.
    private var (share, process) = (-1, -1)

    init(_ design: ExperimentDesign) { self.design = design }

    /// The part of the time that the timed rounds have.
    private var timedPart: Double { Double(design.timedRounds) / Double(design.rounds) }

    /// Ends the timed rounds.
    mutating func endTiming() {
        isTimed = false
        round = max(round, design.timedRounds)
    }

    /// Returns what the next round is for; `nil` at the end.
    /// - Parameter elapsed: The time since the start of the comparison.
    mutating func next(after elapsed: Duration) -> BlockKind? {
        let time = design.time.map { elapsed / $0 } ?? 0
        if isTimed, round >= design.timedRounds || round > 0 && time >= timedPart { endTiming() }
        guard isTimed else {
            guard round < design.rounds, time < 1 else { return nil }
            round += 1
            return .watched
        }
        let byRounds = round * design.processes / design.timedRounds
        let byTime = design.isOfProgram ? 0 : Int(time / timedPart * Double(design.processes))
        if max(byRounds, byTime) > share {
            share = max(byRounds, byTime)
            process += 1
        }
        round += 1
        return .timed(process: process)
    }

    /// Returns the time for the round that has begun, in seconds; `nil` without a limit.
    func roundSeconds(after elapsed: Duration) -> Double? {
        guard let time = design.time else { return nil }
        let (end, last) = isTimed ? (timedPart, design.timedRounds) : (1, design.rounds)
        return (time * end - elapsed) / .seconds(1) / Double(max(1, last - round + 1))
    }
}
