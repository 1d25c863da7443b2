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
