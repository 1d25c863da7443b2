import Synchronization

/// The readings of one replayable stream. All its sequences may share one source, such as a file that is rewound, so a
/// new sequence is made only when each reading that was cancelled has ended, and each whose response is over is
/// cancelled. Other readings that go on are independent.
final class StreamRuns: Sendable {
    private struct State {
        var lastNumber = 0
        var running: [Int: StreamReading?] = [:]
        var cancelled: Set<Int> = []
        /// The readings that wait for the cancelled ones.
        var waiting: [FirstOutcome<Void>] = []
    }

    private enum Beginning {
        case begun(Int)
        case waits(FirstOutcome<Void>)
        /// The reading's response is over, and a newer reading goes on.
        case comesTooLate
    }

    private let state = Guarded(State())

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Reads the stream when no cancelled reading is left.
    func run(_ read: () async throws -> Void) async throws {
        let number = try await begin()
        defer { end(number) }
        try await withTaskCancellationHandler {
            // A reading that was cancelled before it was known here must not begin: it would take from the source.
            try Task.checkCancellation()
            // The stream's own requests are none of this exchange's.
            try await StreamReading.$current.withValue(nil) { try await read() }
        } onCancel: {
            state.withLock { state in
                if state.running[number] != nil { state.cancelled.insert(number) }
            }
        }
    }

    private func begin() async throws -> Int {
        while true {
            switch beginning() {
            case .begun(let number): return number
            case .comesTooLate: throw CancellationError()
            case .waits(let turn):
                try await turn.value(orWhenCancelled: CancellationError()) {
                    state.withLock { $0.waiting.removeAll { $0 === turn } }
                }
            }
        }
    }

    private func beginning() -> Beginning {
        let (beginning, left) = state.withLock { state in
            let goesOn = state.running.keys.contains { !state.cancelled.contains($0) }
            if goesOn, StreamReading.current?.isLeft == true { return (Beginning.comesTooLate, [StreamReading]()) }
            let left = state.running.filter { $0.value?.isLeft == true && !state.cancelled.contains($0.key) }
            state.cancelled.formUnion(left.keys)
            guard state.cancelled.isEmpty else {
                let turn = FirstOutcome<Void>()
                state.waiting.append(turn)
                return (Beginning.waits(turn), left.values.compactMap(\.self))
            }
            state.lastNumber += 1
            state.running[state.lastNumber] = .some(StreamReading.current)
            return (.begun(state.lastNumber), [])
        }
        // Not under the lock, which the cancellation takes.
        for reading in left { reading.cancel() }
        return beginning
    }

    private func end(_ number: Int) {
        let ready = state.withLock { state in
            state.running[number] = nil
            state.cancelled.remove(number)
            guard state.cancelled.isEmpty else { return [] as [FirstOutcome<Void>] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for turn in ready { turn.finish(.success(())) }
    }
}

/// One reading of a request's body by an exchange, for bodies that can be read anew. Once the exchange's response is
/// over, the rest of its request's body may still be sent for a while, and a new reading ends it.
package final class StreamReading: Sendable {
    private struct State {
        var isLeft: Bool
        var isCancelled = false
        var cancellation: (@Sendable () -> Void)?
    }

    private let state: Guarded<State>

    /// The reading for which the current task produces a body.
    @TaskLocal package static var current: StreamReading?

    package init(isLeft: Bool) { state = Guarded(State(isLeft: isLeft)) }

    package func leave() { state.withLock { $0.isLeft = true } }

    var isLeft: Bool { state.withLock(\.isLeft) }

    /// Sets what ends the reading, and runs it if the reading has been cancelled.
    package func onCancel(_ cancellation: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.cancellation = cancellation
            return state.isCancelled
        }
        if isCancelled { cancellation() }
    }

    func cancel() {
        let cancellation = state.withLock { state in
            state.isCancelled = true
            return state.cancellation
        }
        cancellation?()
    }
}
