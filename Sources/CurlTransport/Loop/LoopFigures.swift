import NetworkCore

/// What a loop counts: connections and waits by origin, and its rounds.
struct LoopFigures {
    private var origins: [Origin: TransportStatistics.Connections] = [:]
    private var others = TransportStatistics.Connections()
    /// The origins of the open sockets.
    private var sockets: [Int32: Origin] = [:]
    private var loops = TransportStatistics.Loops()

    mutating func opened(_ descriptor: Int32, for origin: Origin) {
        // libcurl 7.88 to 8.1 may have closed one without a report.
        closed(descriptor)
        sockets[descriptor] = origin
        change(origin) {
            $0.open += 1
            $0.opened += 1
        }
    }

    mutating func closed(_ descriptor: Int32) {
        guard let origin = sockets.removeValue(forKey: descriptor) else { return }
        change(origin) {
            $0.open -= 1
            $0.closed += 1
        }
    }

    mutating func waited(_ time: Duration, for origin: Origin) {
        change(origin) {
            $0.waited += 1
            $0.waitingTime += time
        }
    }

    mutating func roundEnded(after time: Duration) {
        loops.rounds += 1
        loops.busy += time
        loops.longestRound = max(loops.longestRound, time)
    }

    private mutating func change(_ origin: Origin, _ change: (inout TransportStatistics.Connections) -> Void) {
        if origins[origin] != nil || origins.count < TransportStatistics.maximumOrigins {
            change(&origins[origin, default: TransportStatistics.Connections()])
        } else {
            change(&others)
        }
    }

    /// Returns the statistics, with the requests that run and wait.
    func statistics(with admission: Admission) -> TransportStatistics {
        var (known, others) = (origins, others)
        admission.forEachOrigin { origin, running, waiting in
            let isKnown = known[origin] != nil || known.count < TransportStatistics.maximumOrigins
            var figures = isKnown ? known[origin] ?? .init() : others
            figures.running += running
            figures.waiting += waiting
            if isKnown { known[origin] = figures } else { others = figures }
        }
        // Origins that differ in more than their text, such as their proxies, are one here.
        var statistics = TransportStatistics(otherOrigins: others, loops: loops)
        for (origin, connections) in known {
            statistics += TransportStatistics(origins: [origin.text: connections])
        }
        return statistics
    }
}

extension Origin {
    fileprivate var text: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }
}
