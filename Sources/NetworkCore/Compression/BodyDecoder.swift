import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Decodes a body on its reader's side, as fast as it is read.
package final class BodyDecoder: Sendable {
    private struct State: ~Copyable {
        var chain: DecodingChain
        /// After the end and after an error nothing comes any more.
        var hasEnded = false
    }

    private let state: Guarded<State>

    package init(_ chain: consuming sending DecodingChain) { state = Guarded(State(chain: chain)) }

    /// The decoded bytes so far.
    package var produced: Int { state.withLock { $0.chain.produced } }

    /// Whether nothing comes any more.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Nobody wants the rest: nothing comes any more.
    package func discard() { state.withLock { $0.hasEnded = true } }

    /// The next decoded bytes, never empty; `nil` at the end and after an error.
    /// - Parameter fetch: The next bytes on the wire, `nil` at their end.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding``; whatever `fetch` throws.
    package func next(fetch: () async throws -> Data?) async throws -> Data? {
        while true {
            let (piece, hasEnded) = try attempt { ($0.hasEnded ? nil : try $0.chain.next(), $0.hasEnded) }
            if piece != nil || hasEnded { return piece }
            let bytes: Data?
            do {
                bytes = try await fetch()
            } catch {
                discard()
                throw error
            }
            if let bytes {
                state.withLock { $0.chain.append(bytes) }
            } else {
                try attempt { state in
                    state.hasEnded = true
                    try state.chain.end()
                }
                return nil
            }
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
