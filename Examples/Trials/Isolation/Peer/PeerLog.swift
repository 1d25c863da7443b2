import Foundation
import Synchronization

/// A request as the peer saw it.
struct SeenRequest: Sendable {
    /// Which connection, by number, and which request of it, from 0.
    var connection: Int
    var position: Int
    /// Where and through what it came: listener, address, proxy's words, TLS.
    var way: [String]
    /// Request line and fields, as they were.
    var head: String
    /// The body without its framing.
    var body = BodyDigest()
    /// Whether the body was read to its end.
    var isWhole = false
    /// The number of the step that it belongs to, by its path; `nil` where it has none.
    var step: Int?
    /// Whether its fields are packed, so that only the time of its arrival says to which step it belongs.
    var isPacked = false
    /// Whether it is the request of a helper of a step: what keeps its place busy.
    var isHelper = false
}

/// A body, or what came of it.
struct BodyDigest: Sendable, Hashable {
    var count = 0
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// Its first bytes, to look for secrets.
    var start: [UInt8] = []

    mutating func add(_ bytes: some Collection<UInt8>) {
        count += bytes.count
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if start.count < 512 { start += bytes.prefix(512 - start.count) }
    }

    var text: String { "\(count) bytes, \(String(hash, radix: 16))" }
}

/// All that the peer saw in one unit.
final class PeerLog: Sendable {
    private struct State {
        var requests: [SeenRequest] = []
        var connections = 0
        var open: [Int: String] = [:]
        /// The connections on which something is done, and those that are about to end.
        var busy: Set<Int> = []
        /// How often passing something on to the client began, and ended, of connections with TLS.
        var passes: [Int: (begun: Int, ended: Int)] = [:]
        var signals: [String: Signal] = [:]
        var step = 0
        var outcome = "ok"
    }

    private let state = Mutex(State())
    private let isTelling = ProcessInfo.processInfo.environment["ISOLATION_TELLS"] != nil

    /// Begins a unit; connections that are open stay what they are.
    func begin() {
        state.withLock { state in
            state.requests = []
            for signal in state.signals.values { signal.fire() }
            state.signals = [:]
        }
    }

    /// A step begins: what has no path of its own belongs to it.
    func begin(step: Int, outcome: String) { state.withLock { ($0.step, $0.outcome) = (step, outcome) } }

    var current: (step: Int, outcome: String) { state.withLock { ($0.step, $0.outcome) } }
    var requests: [SeenRequest] { state.withLock(\.requests) }

    /// A connection came.
    /// - Returns: Its number.
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

    /// A request has arrived on a connection.
    func begin(on connection: Int) { state.withLock { _ = $0.busy.insert(connection) } }

    /// All is said to a request.
    /// - Parameters:
    ///   - ending: The connection that carried this one, if that ends with it.
    func end(on connection: Int, ending outer: Int? = nil) {
        state.withLock { state in
            guard let outer else { return _ = state.busy.remove(connection) }
            if state.open[outer] != nil { state.busy.insert(outer) }
        }
    }

    /// How often passing something on has begun: what the client has read was begun, and may not have ended here.
    func passes(of connection: Int) -> Int { state.withLock { $0.passes[connection]?.begun ?? 0 } }

    /// Something is about to be passed on to the client.
    func passBegins(on connection: Int) { state.withLock { $0.passes[connection, default: (0, 0)].begun += 1 } }

    /// Something was passed on to the client.
    func passed(on connection: Int) {
        let count = state.withLock { state in
            state.passes[connection, default: (0, 0)].ended += 1
            return state.passes[connection]?.ended ?? 0
        }
        signal("passed \(connection) \(count)").fire()
    }

    /// Whether all is said to every request, and every connection has ended that the peer ends.
    var isSettled: Bool { state.withLock(\.busy.isEmpty) }

    /// The connections that are open, by where they came in.
    var openWays: [String] { state.withLock { Array($0.open.values) } }

    /// What was done on a connection, as a step of a script.
    ///
    /// It is told before it happens, since the process may end by it.
    func write(_ step: @autoclosure () -> String, of connection: Int) {
        if isTelling { Worker.say("SCRIPT \(connection) \(step())") }
    }

    /// - Returns: The request's number in this log.
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

    /// The signal of a name, which both sides may ask for first.
    func signal(_ name: String) -> Signal {
        state.withLock { state in
            if let signal = state.signals[name] { return signal }
            let signal = Signal()
            state.signals[name] = signal
            return signal
        }
    }
}

/// Something that happens once, for tasks and threads to wait for.
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

    /// For a thread; ten seconds at most.
    func block() {
        if condition.wait(timeout: .now() + 10) == .success { condition.signal() }
    }
}
