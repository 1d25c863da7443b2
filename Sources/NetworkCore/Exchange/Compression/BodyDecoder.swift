package import FoundationEssentials
import Synchronization

/// Decodes a body on its reader's side, as fast as it is read.
package final class BodyDecoder: Sendable {
    private struct State: ~Copyable {
        var chain: DecodingChain
        /// After the end and after an error nothing comes any more.
        var hasEnded = false
        /// The chain's work when the reader's thread was last free for others.
        var workAtPause = 0
    }

    private enum Outcome {
        case step(DecodingChain.Step)
        case ended
    }

    /// After so many bytes, a few milliseconds' worth, other tasks get the thread: a reader that never waits would keep
    /// it.
    private static let workBetweenPauses = 1 << 20
    private let state: Guarded<State>

    package init(_ chain: consuming sending DecodingChain) { state = Guarded(State(chain: chain)) }

    /// The decoded bytes so far.
    package var produced: Int { state.withLock { $0.chain.produced } }

    /// Whether nothing comes any more.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Nobody wants the rest: nothing comes any more.
    package func discard() { state.withLock { $0.hasEnded = true } }

    /// The next decoded bytes, never empty; `nil` at the end and after an error.
    /// - Parameters:
    ///   - check: Throws when the time is over or the reader has gone; asked every few milliseconds.
    ///   - fetch: The next bytes on the wire, `nil` at their end.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding``; whatever `check` and `fetch` throw.
    package func next(check: () throws -> Void, fetch: () async throws -> Data?) async throws -> Data? {
        while true {
            let (outcome, pauses) = try attempt(Self.step)
            if pauses { await Task.yield() }
            switch outcome {
            case .ended: return nil
            case .step(.piece(let piece)): return piece
            case .step(.goOn): try ending(check)
            case .step(.needsInput):
                guard let bytes = try await ending(fetch) else {
                    try attempt { state in
                        state.hasEnded = true
                        try state.chain.end()
                    }
                    return nil
                }
                state.withLock { $0.chain.append(bytes) }
                try ending(check)
            }
        }
    }

    private static func step(_ state: inout State) throws -> (Outcome, pauses: Bool) {
        if state.hasEnded { return (.ended, false) }
        let step = try state.chain.step()
        guard state.chain.work - state.workAtPause >= workBetweenPauses else { return (.step(step), false) }
        state.workAtPause = state.chain.work
        return (.step(step), true)
    }

    /// An error of others ends it too.
    private func ending<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            discard()
            throw error
        }
    }

    private func ending(_ body: () throws -> Void) throws {
        do {
            try body()
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
