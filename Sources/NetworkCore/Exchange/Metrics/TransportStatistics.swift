/// The state of a transport's connections and queue, and what it has done since it began.
///
/// Numbers that can fall are those of the moment; the others only grow.
public struct TransportStatistics: Sendable, Hashable {
    /// The connections and requests of one origin, or of all.
    public struct Connections: Sendable, Hashable {
        /// The number of open connections, those that are being opened included.
        public var open = 0
        /// The number of connections that were opened, or that the transport tried to open.
        public var opened = 0
        /// The number of connections that were closed.
        public var closed = 0
        /// The number of requests that have a place to run.
        public var running = 0
        /// The number of requests that wait for a place.
        public var waiting = 0
        /// The number of requests that had to wait and got a place.
        public var waited = 0
        /// The time for which those waited, together.
        public var waitingTime = Duration.zero

        /// The number of open connections beyond one for each running request. With HTTP/2, where a connection carries
        /// many, more may be idle.
        public var idle: Int { max(0, open - running) }

        /// Creates the numbers of a transport that has done nothing.
        public init() {}

        static func += (sum: inout Connections, other: Connections) {
            sum.open += other.open
            sum.opened += other.opened
            sum.closed += other.closed
            sum.running += other.running
            sum.waiting += other.waiting
            sum.waited += other.waited
            sum.waitingTime += other.waitingTime
        }
    }

    /// The event loops of a transport.
    public struct Loops: Sendable, Hashable {
        /// The number of rounds: from one wait for events to the next one.
        public var rounds = 0
        /// The time that the rounds took, without their waits.
        public var busy = Duration.zero
        /// The longest round, for which all exchanges of its loop waited.
        public var longestRound = Duration.zero

        /// Creates the numbers of a loop that has done nothing.
        public init() {}
    }

    /// The origins that the transport has met first, by their text, such as `https://api.example.com:443`: at most
    /// ``maximumOrigins`` for each loop.
    public var origins: [String: Connections]
    /// The origins beyond those, together.
    public var otherOrigins: Connections
    /// The event loops, together; the longest round is that of any of them.
    public var loops: Loops

    /// The number of origins that have numbers of their own.
    public static let maximumOrigins = 256

    /// Creates statistics, of a transport that has done nothing by default.
    public init(
        origins: [String: Connections] = [:], otherOrigins: Connections = Connections(), loops: Loops = Loops()
    ) {
        (self.origins, self.otherOrigins, self.loops) = (origins, otherOrigins, loops)
    }

    /// The numbers of all origins.
    public var connections: Connections { origins.values.reduce(into: otherOrigins) { $0 += $1 } }

    /// Adds the statistics of another part of the transport.
    public static func += (sum: inout TransportStatistics, other: TransportStatistics) {
        for (origin, connections) in other.origins { sum.origins[origin, default: Connections()] += connections }
        sum.otherOrigins += other.otherOrigins
        sum.loops.rounds += other.loops.rounds
        sum.loops.busy += other.loops.busy
        sum.loops.longestRound = max(sum.loops.longestRound, other.loops.longestRound)
    }
}

/// A transport that reports the state of its connections.
public protocol ReportsStatistics: HTTPTransport, ReportsFigures {
    /// The state of the connections and the queue now.
    var statistics: TransportStatistics { get async }
}

extension ReportsStatistics {
    /// The statistics as figures: those of connections and requests by `origin`, beyond
    /// ``TransportStatistics/maximumOrigins`` for each loop together as `_OTHER`.
    public var figures: [Figure] { get async { await statistics.figures } }
}

extension TransportStatistics {
    fileprivate var figures: [Figure] {
        var all = origins
        if otherOrigins != Connections() { all["_OTHER"] = otherOrigins }
        return all.flatMap { origin, connections in connections.figures(["origin": origin]) } + [
            Figure("networklayer.loop.rounds", Double(loops.rounds), .total),
            Figure("networklayer.loop.busy_seconds", loops.busy / .seconds(1), .total),
            Figure("networklayer.loop.longest_round_seconds", loops.longestRound / .seconds(1)),
        ]
    }
}

extension TransportStatistics.Connections {
    fileprivate func figures(_ dimensions: [String: String]) -> [Figure] {
        func connections(_ state: String, _ number: Int) -> Figure {
            let state = dimensions.merging(["http.connection.state": state]) { $1 }
            return Figure("http.client.open_connections", Double(number), by: state)
        }
        return [
            connections("active", open - idle), connections("idle", idle),
            Figure("networklayer.pool.opened", Double(opened), .total, by: dimensions),
            Figure("networklayer.pool.closed", Double(closed), .total, by: dimensions),
            Figure("networklayer.pool.waiting", Double(waiting), by: dimensions),
            Figure("networklayer.pool.waited", Double(waited), .total, by: dimensions),
            Figure("networklayer.pool.wait_seconds", waitingTime / .seconds(1), .total, by: dimensions),
        ]
    }
}
