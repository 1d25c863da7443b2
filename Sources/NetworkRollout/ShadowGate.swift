import FoundationEssentials
import NetworkCore
import Synchronization

/// Decides which requests have a shadow, and counts.
final class ShadowGate: Sendable {
    private struct State {
        var counts = ShadowTransport.Counts()
        var running = 0
        var waiters: [FirstOutcome<Void>] = []
    }

    private let options: ShadowTransport.Options
    private let requests = Atomic(0)
    private let state = Guarded(State())
    private let load = ProcessLoad()

    init(_ options: ShadowTransport.Options) { self.options = options }

    /// The number of tasks that wait.
    var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Counts a request, and returns whether it is one of the sample and may have a shadow.
    func samples(_ request: TransportRequest) -> Bool {
        requests.add(1, ordering: .relaxed)
        guard Double.random(in: 0..<1) < options.share, options.methods.contains(request.method) else { return false }
        // A primary may still read the body when its head is there, and both readings may share one source.
        guard let body = request.body, body.bytes == nil else { return true }
        state.withLock { $0.counts.skipped += 1 }
        return false
    }

    /// Returns whether a request of the sample gets a shadow now, whose place ``finish(_:)`` frees.
    func begins() -> Bool {
        let isBusy = options.maximumLoad < 1 && load.current > options.maximumLoad
        return state.withLock { state in
            guard !isBusy, state.running < options.maximumConcurrent else {
                state.counts.skipped += 1
                return false
            }
            state.counts.shadowed += 1
            state.running += 1
            return true
        }
    }

    /// Counts what became of a request with a shadow.
    func count(_ outcome: WritableKeyPath<ShadowTransport.Counts, Int>) {
        state.withLock { state in
            state.counts[keyPath: outcome] += 1
            if outcome == \.unsupported { state.counts.shadowed -= 1 }
        }
    }

    /// Frees the place of a shadow.
    func finish() {
        let waiters = state.withLock { state in
            state.running -= 1
            guard state.running == 0 else { return [] as [FirstOutcome<Void>] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish(.success(())) }
    }

    /// Returns when no request has a shadow that runs, or the task is cancelled.
    func waitUntilIdle() async {
        let waiter = FirstOutcome<Void>()
        let isIdle = state.withLock { state in
            if state.running > 0 { state.waiters.append(waiter) }
            return state.running == 0
        }
        if isIdle { return }
        try? await waiter.value(orWhenCancelled: CancellationError()) {
            state.withLock { $0.waiters.removeAll { $0 === waiter } }
        }
    }

    var counts: ShadowTransport.Counts {
        var counts = state.withLock(\.counts)
        counts.requests = requests.load(ordering: .relaxed)
        return counts
    }
}

/// The share of all cores that this process uses.
final class ProcessLoad: Sendable {
    private struct State {
        var start = ContinuousClock.now
        var computed = processorTime()
        var share = 0.0
    }

    /// The time over which the load is measured.
    private static let interval = Duration.milliseconds(250)
    private let state = Guarded(State())
    private let cores = Double(ProcessInfo.processInfo.activeProcessorCount)

    /// The share over the last interval, from 0 to 1.
    var current: Double {
        state.withLock { state in
            let now = ContinuousClock.now
            let time = state.start.duration(to: now)
            guard time >= Self.interval else { return state.share }
            let computed = processorTime()
            state.share = (computed - state.computed) / time / cores
            (state.start, state.computed) = (now, computed)
            return state.share
        }
    }
}
