import NetworkLayer

/// What a transport did for requests, as far as it reports that (``NetworkCore/ReportsStatistics``).
struct TransportFigures: Codable, Sendable, Equatable {
    /// The connections that were opened and closed.
    var (opened, closed) = (0, 0)
    /// The requests that waited for a place to run, and their wait together.
    var waited = 0
    var waitMs = 0.0
    /// The rounds of the event loops, and the time that they took.
    var rounds = 0
    var busyMs = 0.0
    /// The longest round since the process began, warm-ups included.
    var longestRoundMs = 0.0

    init() {}

    init(since before: TransportStatistics, until after: TransportStatistics) {
        let (old, new) = (before.connections, after.connections)
        (opened, closed) = (new.opened - old.opened, new.closed - old.closed)
        waited = new.waited - old.waited
        waitMs = (new.waitingTime - old.waitingTime) / .milliseconds(1)
        rounds = after.loops.rounds - before.loops.rounds
        busyMs = (after.loops.busy - before.loops.busy) / .milliseconds(1)
        longestRoundMs = after.loops.longestRound / .milliseconds(1)
    }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.opened += right.opened
        sum.closed += right.closed
        sum.waited += right.waited
        sum.waitMs += right.waitMs
        sum.rounds += right.rounds
        sum.busyMs += right.busyMs
        sum.longestRoundMs = max(sum.longestRoundMs, right.longestRoundMs)
        return sum
    }

    /// The figures in words: `2 connections opened, 1 closed; 3 requests waited, 4 ms each; …`.
    var text: String {
        func time(_ milliseconds: Double) -> String { Duration.milliseconds(milliseconds).shortText }
        let wait = waited > 0 ? "\(waited) requests waited, \(time(waitMs / Double(waited))) each" : "none waited"
        return "\(opened) connections opened, \(closed) closed; \(wait); \(rounds) rounds of the event loop took "
            + "\(time(busyMs)), the longest \(time(longestRoundMs))"
    }
}
