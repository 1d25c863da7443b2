import Foundation

/// The addresses of the peer.
struct PeerAddress: Sendable {
    enum Origin { case first, second }

    let first: UInt16
    let second: UInt16

    func authority(_ origin: Origin) -> String {
        origin == .first ? "127.0.0.1:\(first)" : "127.0.0.2:\(second)"
    }

    /// The start of a path that HPACK does not compress.
    static let plainPath = "/~~~"

    func url(of ask: Int, at origin: Origin) -> String { "http://\(authority(origin))\(Self.plainPath)/q\(ask)/" }
}

/// The state of a scenario that the peer's thread changes and the runner reads.
struct PeerRound {
    var scenario = Scenario()
    var seen: [Seen] = []
    var isOver: [Bool] = []
    var cancelled: [Int] = []

    /// Records the head of a request.
    /// - Returns: The number of the request, its reply, and whether the request waits for `100 Continue`.
    mutating func seen(_ head: [UInt8], over connection: Int) -> (number: Int, reply: Reply, expectsContinue: Bool) {
        var request = Seen(head: head, connection: connection)
        request.exchange = seen.count { $0.ask == request.ask && $0.good == request.good }
        seen.append(request)
        return (seen.count - 1, reply(to: request), !request.values(of: "expect").isEmpty)
    }

    /// Records a header block of HTTP/2, whose path names the request.
    /// - Returns: The number of the request, and its reply.
    mutating func seen(block: [UInt8], over connection: Int) -> (number: Int, reply: Reply) {
        var request = Seen(block: block, connection: connection)
        if let ask = request.ask, scenario.asks.indices.contains(ask) { request.method = scenario.asks[ask].method }
        request.exchange = seen.count { $0.ask == request.ask && $0.good == request.good }
        seen.append(request)
        return (seen.count - 1, reply(to: request))
    }

    mutating func refuse(_ number: Int) { seen[number].isRefused = true }

    private func reply(to request: Seen) -> Reply {
        if let ask = request.ask, scenario.asks.indices.contains(ask),
            scenario.asks[ask].replies.indices.contains(request.exchange)
        {
            return scenario.asks[ask].replies[request.exchange]
        }
        let body = request.good.map { "good \($0)\n" } ?? "ok\n"
        let mark = request.good.map { "good\($0)" } ?? "\(request.ask ?? -1)"
        let head = "HTTP/1.1 200 OK\r\nX-For: \(mark)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return Reply(steps: [.bytes(Array((request.method == "HEAD" ? head : head + body).utf8))])
    }

    mutating func seenBody(_ bytes: [UInt8], of number: Int) {
        seen[number].body += bytes.prefix(Seen.maximumKept - seen[number].body.count)
    }

    mutating func replied(_ bytes: ArraySlice<UInt8>, to number: Int) {
        seen[number].replied += bytes.prefix(Seen.maximumKept - seen[number].replied.count)
    }

    mutating func crosses(_ number: Int) { seen[number].crosses = true }

    mutating func cancel(_ number: Int) {
        if let ask = seen[number].ask { cancelled.append(ask) }
    }

    /// Returns whether a request has no outcome yet.
    func isOpen(_ number: Int) -> Bool {
        guard let ask = seen[number].ask, isOver.indices.contains(ask) else { return false }
        return !isOver[ask]
    }
}

/// A server on two origins that follows the scenario, on one thread.
///
/// Unchecked because the condition guards everything that both threads use; the rest belongs to the peer's thread.
final class Peer: @unchecked Sendable {
    let address: PeerAddress
    private let listeners: [PeerSocket]
    private let bell = PeerBell()
    private let condition = NSCondition()

    // Guarded by the condition.
    private var round = PeerRound()
    private var cancel: @Sendable (Int) -> Void = { _ in }
    private var asked = 0
    private var answered = 0
    private var count = 0

    // Used by the peer's thread only.
    private var connections: [PeerConnection] = []
    private var accepted = 0
    private var silentRounds = 0

    init() {
        let (first, second) = (PeerSocket.listening(host: 1), PeerSocket.listening(host: 2))
        listeners = [first.socket, second.socket]
        address = PeerAddress(first: first.port, second: second.port)
        Thread { while true { self.runRound() } }.start()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    // MARK: For the runner

    /// Begins a scenario. `cancel` is called on the peer's thread.
    func begin(_ scenario: Scenario, cancel: @escaping @Sendable (Int) -> Void) {
        locked {
            round = PeerRound(scenario: scenario, isOver: scenario.asks.map { _ in false })
            self.cancel = cancel
        }
    }

    var seen: [Seen] { locked { round.seen } }

    /// Records that a request has its outcome.
    func ended(_ ask: Int) { locked { round.isOver[ask] = true } }

    /// Waits until every byte that is due has been sent, and every byte that was sent has been read.
    /// - Parameter isEmpty: Whether to wait also until no connection is left.
    /// - Returns: Whether that happened in time.
    func waitUntilQuiet(isEmpty: Bool = false, seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while true {
            asked += 1
            bell.ring()
            while answered < asked { guard condition.wait(until: end) else { return false } }
            if !isEmpty || count == 0 { return true }
            guard Date() < end else { return false }
        }
    }

    // MARK: On its thread

    private func runRound() {
        let wanted = connections.map { ($0.socket, $0.wantsToSend) }
        let fixed = (listeners + [bell.socket]).map { ($0, false) }
        let (asked, isBusy) = locked { (self.asked, round.isOver.contains(false)) }
        let ready = PeerSocket.wait(for: fixed + wanted, milliseconds: isBusy || asked != answered ? 1 : 100)
        if ready.isEmpty { silentRounds += 1 } else { silentRounds = 0 }
        bell.silence()
        condition.lock()
        for listener in listeners {
            while let socket = listener.accepted() {
                accepted += 1
                connections.append(PeerConnection(socket, number: accepted))
            }
        }
        for index in connections.indices { connections[index].read(&round) }
        if silentRounds > 1 { nudge() }
        connections.removeAll(where: \.isOver)
        count = connections.count
        // Data read after the wait covers everything that was sent before `waitUntilQuiet` was called.
        if connections.allSatisfy(\.isQuiet) { answered = asked }
        let (cancelled, cancel) = (round.cancelled, self.cancel)
        round.cancelled = []
        condition.broadcast()
        condition.unlock()
        for ask in cancelled { cancel(ask) }
    }

    /// Ends connections when nothing moves, so that a client that waits for more than the scenario has gets an end.
    private func nudge() {
        for index in connections.indices {
            let isWaiting = connections[index].waiting.contains(where: round.isOpen)
            if isWaiting || (silentRounds > 50 && connections[index].isReading) { connections[index].finish() }
        }
    }
}
