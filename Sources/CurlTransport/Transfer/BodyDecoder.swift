import FoundationEssentials
import NetworkCore
import Synchronization

/// A decoder for a response's body that works on the reader's side, as fast as the body is read.
final class BodyDecoder: Sendable {
    private struct State: ~Copyable {
        var chain: DecodingChain
        /// Whether the end was reached or an error was thrown; no more bytes follow.
        var hasEnded = false
        /// The chain's work when the reader's task last yielded its thread.
        var workAtPause = 0
    }

    /// The number of bytes after which other tasks get the thread, a few milliseconds' worth.
    private static let workBetweenPauses = 1 << 20
    private let state: Guarded<State>

    init(_ chain: consuming sending DecodingChain) { state = Guarded(State(chain: chain)) }

    var produced: Int { state.withLock { $0.chain.produced } }

    /// Whether no more bytes follow.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Discards the rest of the body; no more bytes follow.
    func discard() { state.withLock { $0.hasEnded = true } }

    /// Returns the next decoded bytes, never empty, or `nil` at the end and after an error.
    func next(check: () throws -> Void, fetch: () async throws -> Data?) async throws -> Data? {
        while true {
            let (step, pauses) = try attempt(Self.step)
            if pauses { await Task.yield() }
            switch step {
            case nil: return nil
            case .piece(let piece): return piece
            case .noOutput: try await ending { try check() }
            case .needsInput:
                guard let bytes = try await ending(fetch) else {
                    try attempt { state in
                        state.hasEnded = true
                        try state.chain.end()
                    }
                    return nil
                }
                state.withLock { $0.chain.append(bytes) }
                try await ending { try check() }
            }
        }
    }

    /// - Returns: The step, `nil` after the end, and whether other tasks should get the thread.
    private static func step(_ state: inout State) throws -> (DecodingChain.Step?, pauses: Bool) {
        if state.hasEnded { return (nil, false) }
        let step = try state.chain.step()
        guard state.chain.work - state.workAtPause >= workBetweenPauses else { return (step, false) }
        state.workAtPause = state.chain.work
        return (step, true)
    }

    /// Ends the body after an error of a closure too. One that does not wait costs no suspension.
    private func ending<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            discard()
            throw error
        }
    }

    private func attempt<Result: Sendable>(_ body: (inout State) throws -> Result) throws -> Result {
        try state.withLock { state in
            do {
                return try body(&state)
            } catch {
                state.hasEnded = true
                throw error
            }
        }
    }
}
