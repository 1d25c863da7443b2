/// The design of a comparison: how much is sent, how, and when it ends.
struct ExperimentDesign: Sendable {
    /// The requests for each URL and arm, at most.
    var requests: Int
    /// The requests at once of a closed load.
    var concurrency: Int
    /// The intended requests a second of an open load, of all arms together.
    var rate: Double?
    /// The number of arms, with the copy of the first one.
    var arms = 2
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
    /// The timeout of each request, in seconds; no longer than the time.
    var timeout: Double
    /// The seed of the order of the blocks, and of the bootstrap.
    var seed: UInt64
    /// The number of pairs of arms and URLs that share the chance of an error, those with a baseline included.
    var comparisons: Int
    /// Whether a block is a run of a program.
    var isOfProgram = false
    /// Whether the requests are also looked at as they are sent.
    var showsWire = false

    /// The most rounds that the requests are divided into. There are fewer if a block would be too small to keep all
    /// workers busy.
    static let mostRounds = 45
    /// The fewest rounds of which the last third shows what a process keeps of requests; fewer are all timed.
    private static let roundsToWatch = 21
    /// The time after which a block of a closed load begins no further request, in seconds, where the comparison has a
    /// time: a server may become slow, or hang, after the block's size was chosen.
    var blockSeconds: Double? { time.map { max(1, $0 / .seconds(10)) } }

    /// The time after which a warm-up begins no further request, in seconds: all of them together have a fifth of the
    /// comparison's time, or none without one.
    func warmUpSeconds(arms: Int) -> Double? {
        time.map { $0 / .seconds(5) / Double(max(1, processes * arms * weights.count)) }
    }

    /// The rounds before the precision is looked at for the first time.
    var roundsBeforePrecision: Int { rate == nil ? 10 : PairedComparison.minimumProcesses }
    /// How often each worker has a turn in a block, at least.
    private static let leastTurns = 4
    /// The requests for each URL and arm, at most, of a comparison that ends by its time.
    static let mostRequestsOfTime = 100_000

    /// What arms are compared by. The rate of an open load is given, and not found.
    var metrics: [Metric] {
        isOfProgram ? [.p50, .cpu] : Metric.allCases.filter { rate == nil || $0 != .rate }
    }

    /// The time for which the arms of an open load send without a pause, at least, where the requests suffice.
    static let leastOpenSeconds = 2.0

    /// The number of rounds, at most. In an open load each process has one round: between rounds nothing is sent, and a
    /// server that stalls then is not seen.
    var rounds: Int {
        if let rate, !isOfProgram {
            let fitting = Int(Double(requests * arms) / rate / Self.leastOpenSeconds)
            let most = min(mostProcesses, requests)
            return min(most, max(fitting, PairedComparison.minimumProcesses))
        }
        return isOfProgram ? requests : max(1, min(Self.mostRounds, requests / (Self.leastTurns * concurrency)))
    }

    /// The number of rounds, after those that are timed, in which each arm's last process goes on: what it keeps of
    /// requests shows in one that has carried many.
    var watchedRounds: Int { isOfProgram || rounds < Self.roundsToWatch ? 0 : rounds / 3 }

    /// The number of rounds whose times count, at most.
    var timedRounds: Int { rounds - watchedRounds }

    /// The number of processes of each arm, at most. A program's run is a process of its own.
    var processes: Int { isOfProgram ? timedRounds : min(mostProcesses, timedRounds) }

    /// The number of requests in a block, at most.
    var blockSize: Int { (requests + rounds - 1) / rounds }

    /// Returns the number of requests in a block of a round, at most: all rounds together have all requests.
    private func blockSize(of round: Int) -> Int { requests * (round + 1) / rounds - requests * round / rounds }

    /// Returns the number of requests in a block, at which the rest of the rounds fill the rest of their time.
    /// - Parameters:
    ///   - round: The number of the round.
    ///   - roundSeconds: The time for each of the rounds that are left; `nil` without a limit.
    ///   - pace: The time of one request for each URL over each arm, weights included, in seconds.
    func blockSize(of round: Int, within roundSeconds: Double?, at pace: Double) -> Int {
        let blockSize = blockSize(of: round)
        guard let roundSeconds, pace > 0, !isOfProgram else { return blockSize }
        let fitting = min(max(0, roundSeconds) / pace, Double(blockSize))
        // An open load has no workers to keep busy.
        return max(Int(fitting), min(blockSize, rate == nil ? Self.leastTurns * concurrency : 1))
    }

    /// Returns the time of one request in a block, in seconds.
    /// - Parameter latest: The time of one request in the latest block, which may have had one request alone.
    func pace(_ latest: Double) -> Double { rate.map { 1 / $0 } ?? latest }

    /// The longest time in which an arm begins no request of a block.
    func patience(for order: BlockOrder) -> Duration {
        let gap = order.starts.map { $0.longestGap(order.requests) } ?? 0
        return .seconds(timeout + gap + 10)
    }

    /// Returns the time for which the arms of an open load send without a pause, in seconds; `nil` for a closed one.
    func openSeconds(of requests: Int) -> Double? { rate.map { Double(requests * arms) / $0 } }

    /// The longest time for the start of a process, which a busy machine delays.
    static let startPatience = Duration.seconds(60)
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
