import Foundation
import Synchronization

/// A request as the peer received it.
struct SeenRequest: Sendable {
    /// The number of the connection, and the number of the request on it, from 0.
    var connection: Int
    var position: Int
    /// The way to the peer: listener, address, proxy and its credentials, TLS.
    var way: [String]
    /// The request line and the fields, unchanged.
    var head: String
    /// The body without its framing.
    var body = BodyDigest()
    /// Whether the peer read the body to its end.
    var isWhole = false
    /// The number of the step that it belongs to, from its path; `nil` if the path has none.
    var step: Int?
    /// Whether its fields are compressed, so that only the time of arrival shows which step it belongs to.
    var isPacked = false
    /// Whether it belongs to a helper of a step, which keeps the step's place busy.
    var isHelper = false
}

/// The length, the hash and the start of a body, or of the part that arrived.
struct BodyDigest: Sendable, Hashable {
    var count = 0
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The first bytes, to be searched for secrets.
    var start: [UInt8] = []

    mutating func add(_ bytes: some Collection<UInt8>) {
        count += bytes.count
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if start.count < 512 { start += bytes.prefix(512 - start.count) }
    }

    var text: String { "\(count) bytes, \(String(hash, radix: 16))" }
}

/// Everything that the peer received in one unit.
final class PeerLog: Sendable {
    private struct State {
        var requests: [SeenRequest] = []
        var connections = 0
        var open: [Int: String] = [:]
        /// The connections on which the peer is busy, and those that are about to end.
        var busy: Set<Int> = []
        /// For connections with TLS: how often passing data on to the client began, and ended.
        var passes: [Int: (begun: Int, ended: Int)] = [:]
        var signals: [String: Signal] = [:]
        var step = 0
        var outcome = "ok"
    }

    private let state = Mutex(State())
    private let isTelling = ProcessInfo.processInfo.environment["ISOLATION_TELLS"] != nil

    /// Begins a unit. Open connections keep their state.
    func begin() {
        state.withLock { state in
            state.requests = []
            for signal in state.signals.values { signal.fire() }
            state.signals = [:]
        }
    }

    /// Begins a step. Requests without a path of their own belong to it.
    func begin(step: Int, outcome: String) { state.withLock { ($0.step, $0.outcome) = (step, outcome) } }

    var current: (step: Int, outcome: String) { state.withLock { ($0.step, $0.outcome) } }
    var requests: [SeenRequest] { state.withLock(\.requests) }

    /// Adds a connection.
    /// - Returns: The number of the connection.
    func open(_ way: String) -> Int {
        state.withLock { state in
            state.connections += 1
            state.open[state.connections] = way
            return state.connections
        }
    }

    func close(_ connection: Int) {
        state.withLock { state in
            state.open[connection] = nil
            state.busy.remove(connection)
            state.passes[connection] = nil
        }
    }

    /// Marks a connection as busy: a request has arrived on it.
    func begin(on connection: Int) { state.withLock { _ = $0.busy.insert(connection) } }

    /// Marks a connection as idle: the response to its request is complete.
    /// - Parameters:
    ///   - ending: The connection that carries this one, if it ends with it.
    func end(on connection: Int, ending outer: Int? = nil) {
        state.withLock { state in
            guard let outer else { return _ = state.busy.remove(connection) }
            if state.open[outer] != nil { state.busy.insert(outer) }
        }
    }

    /// Returns how often passing data on has begun. If the client has read data, passing it on has begun, but may not
    /// have ended here.
    func passes(of connection: Int) -> Int { state.withLock { $0.passes[connection]?.begun ?? 0 } }

    /// Records that data is about to be passed on to the client.
    func passBegins(on connection: Int) { state.withLock { $0.passes[connection, default: (0, 0)].begun += 1 } }

    /// Records that data was passed on to the client.
    func passed(on connection: Int) {
        let count = state.withLock { state in
            state.passes[connection, default: (0, 0)].ended += 1
            return state.passes[connection]?.ended ?? 0
        }
        signal("passed \(connection) \(count)").fire()
    }

    /// Whether every response is complete, and every connection that the peer ends has ended.
    var isSettled: Bool { state.withLock(\.busy.isEmpty) }

    /// The open connections, by the listener that accepted them.
    var openWays: [String] { state.withLock { Array($0.open.values) } }

    /// Prints an action on a connection, as a step of a script.
    ///
    /// The line is printed before the action, because the action may end the process.
    func write(_ step: @autoclosure () -> String, of connection: Int) {
        if isTelling { Worker.say("SCRIPT \(connection) \(step())") }
    }

    /// Adds a request.
    /// - Returns: The number of the request in this log.
    func add(_ request: SeenRequest) -> Int {
        state.withLock { state in
            state.requests.append(request)
            return state.requests.count - 1
        }
    }

    func update(_ number: Int, body: BodyDigest, isWhole: Bool) {
        state.withLock { state in
            guard state.requests.indices.contains(number) else { return }
            state.requests[number].body = body
            state.requests[number].isWhole = isWhole
        }
    }

    /// Returns the signal with a name. Either side may be the first to use it.
    func signal(_ name: String) -> Signal {
        state.withLock { state in
            if let signal = state.signals[name] { return signal }
            let signal = Signal()
            state.signals[name] = signal
            return signal
        }
    }
}

/// An event that happens once, for tasks and threads to wait for.
final class Signal: Sendable {
    private struct State {
        var isFired = false
        var tasks: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let condition = DispatchSemaphore(value: 0)

    func fire() {
        let tasks = state.withLock { state in
            state.isFired = true
            defer { state.tasks = [] }
            return state.tasks
        }
        condition.signal()
        for task in tasks { task.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isFired = state.withLock { state in
                if !state.isFired { state.tasks.append(continuation) }
                return state.isFired
            }
            if isFired { continuation.resume() }
        }
    }

    /// Blocks the thread until the event, at most twenty seconds.
    func block() {
        if condition.wait(timeout: .now() + 20) == .success { condition.signal() }
    }
}
