import Foundation
import NetworkLayer

/// A limit on the bytes of the bodies that many lines hold at the same time.
///
/// Bytes that don't fit wait, the longest waiting first. One line at a time may exceed the limit until it gives its
/// bytes back: lines that each hold a part of a body could otherwise wait for one another indefinitely. So all lines
/// hold at most the limit and one body.
final class BodyBudget: Sendable {
    /// The bytes of a share that wait for room, until the stream ends.
    private typealias Wait = (share: Int, count: Int, turn: AsyncStream<Never>.Continuation)

    private struct State {
        let limit: Int
        /// The bytes that are held now, and the most that ever were.
        var held = 0
        var most = 0
        /// The bytes of each share that holds any.
        var shares: [Int: Int] = [:]
        var lastShare = 0
        /// The share that may exceed the limit. There is one while anything waits.
        var exempt: Int?
        var waits: [Wait] = []

        /// Takes bytes for a share.
        /// - Returns: Whether they fit.
        mutating func take(_ count: Int, for share: Int) -> Bool {
            if share != exempt, held + count > limit {
                guard exempt == nil else { return false }
                exempt = share
            }
            held += count
            most = max(most, held)
            shares[share, default: 0] += count
            return true
        }

        /// Removes a share and its bytes.
        /// - Returns: The waits that are over.
        mutating func remove(_ share: Int) -> [Wait] {
            held -= shares.removeValue(forKey: share) ?? 0
            // A wait that has failed is still there.
            waits.removeAll { $0.share == share }
            if share == exempt { exempt = nil }
            var over: [Wait] = []
            while let next = waits.first, take(next.count, for: next.share) { over.append(waits.removeFirst()) }
            return over
        }
    }

    private let state: Guarded<State>

    /// - Parameter limit: In bytes.
    init(limit: Int = 256 << 20) { state = Guarded(State(limit: limit)) }

    // For tests.
    var held: Int { state.withLock(\.held) }
    var most: Int { state.withLock(\.most) }
    var waitingCount: Int { state.withLock(\.waits.count) }

    /// Returns a share that holds no bytes. Each share must be given back.
    func share() -> Share {
        let number = state.withLock { state in
            state.lastShare += 1
            return state.lastShare
        }
        return Share(budget: self, number: number)
    }

    /// What one line holds. One task uses it.
    struct Share: Sendable {
        fileprivate let budget: BodyBudget
        fileprivate let number: Int

        /// Returns a whole body, whose bytes the share holds from then on.
        func collect(
            _ body: TransportResponse.Body, upTo limit: Int, within call: NetworkClient.Call
        ) async throws -> Data {
            var bytes = Data()
            for try await chunk in body {
                guard bytes.count + chunk.count <= limit else { throw NetworkError.bodyTooLarge(limit: limit) }
                try await take(chunk.count, within: call)
                bytes += chunk
            }
            return bytes
        }

        /// Takes bytes, and waits for room if necessary, no longer than the call may take.
        func take(_ count: Int, within call: NetworkClient.Call) async throws {
            let (turn, ending) = AsyncStream<Never>.makeStream()
            let isTaken = budget.state.withLock { state in
                // Bytes that fit don't overtake those that wait, which small bodies could hold up indefinitely.
                if number == state.exempt || state.waits.isEmpty, state.take(count, for: number) { return true }
                state.waits.append((number, count, ending))
                return false
            }
            if isTaken { return }
            try await call.withinDeadline {
                for await _ in turn {}
                try Task.checkCancellation()
            }
        }

        /// Gives all bytes back.
        func giveBack() {
            for wait in budget.state.withLock({ $0.remove(number) }) { wait.turn.finish() }
        }
    }
}
