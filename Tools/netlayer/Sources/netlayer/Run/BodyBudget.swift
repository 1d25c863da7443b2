import Foundation
import NetworkLayer
import Synchronization

/// A limit on the bytes of the bodies that many lines hold at the same time.
///
/// Bytes that don't fit wait, the longest waiting first. One line at a time may exceed the limit until it gives its
/// bytes back: lines that each hold a part of a body could otherwise wait for one another indefinitely. So all lines
/// hold at most the limit and one body.
final class BodyBudget: Sendable {
    /// The limit of one run, in bytes.
    static let maximumHeld = 256 << 20

    /// The bytes of a share that wait for room.
    private struct Wait: Sendable {
        let share: Int
        let count: Int
        /// Ends when the bytes fit.
        let turn = AsyncStream<Never>.makeStream()
    }

    private struct State: Sendable {
        let limit: Int
        var held = 0
        /// The most bytes that were held at a time.
        var most = 0
        /// The bytes of each share that holds any.
        var shares: [Int: Int] = [:]
        var lastShare = 0
        /// The share that may exceed the limit. There is one while anything waits.
        var exempt: Int?
        var waits: [Wait] = []

        /// Takes bytes for a share if they fit.
        /// - Returns: The wait of bytes that don't fit.
        mutating func take(_ count: Int, for share: Int) -> Wait? {
            // Bytes that fit don't overtake those that wait, which small bodies could hold up indefinitely.
            if share == exempt || waits.isEmpty, takes(count, for: share) { return nil }
            let wait = Wait(share: share, count: count)
            waits.append(wait)
            return wait
        }

        /// Removes a share and its bytes.
        /// - Returns: The waits that are over.
        mutating func remove(_ share: Int) -> [Wait] {
            held -= shares.removeValue(forKey: share) ?? 0
            // A wait that has failed is still there.
            waits.removeAll { $0.share == share }
            if share == exempt { exempt = nil }
            var over: [Wait] = []
            while let next = waits.first, takes(next.count, for: next.share) { over.append(waits.removeFirst()) }
            return over
        }

        private mutating func takes(_ count: Int, for share: Int) -> Bool {
            if share != exempt, held + count > limit {
                guard exempt == nil else { return false }
                exempt = share
            }
            held += count
            most = max(most, held)
            shares[share, default: 0] += count
            return true
        }
    }

    private let state: Guarded<State>

    /// Creates a budget of which nothing is taken.
    init(limit: Int = BodyBudget.maximumHeld) { state = Guarded(State(limit: limit)) }

    /// The bytes that are held; for tests.
    var held: Int { state.withLock(\.held) }
    /// The most bytes that were held at a time; for tests.
    var most: Int { state.withLock(\.most) }
    /// The number of shares that wait; for tests.
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
        /// - Throws: The body's errors, ``NetworkError/Code/bodyTooLarge`` above the limit in bytes, and the errors of
        ///   ``take(_:within:)``.
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

        /// Takes bytes, and waits for room if necessary.
        /// - Throws: ``NetworkError/Code/totalTimeout`` at the deadline of the call, ``NetworkError/Code/cancelled`` in
        ///   a cancelled task.
        func take(_ count: Int, within call: NetworkClient.Call) async throws {
            guard let wait = budget.state.withLock({ $0.take(count, for: number) }) else { return }
            try await call.withinDeadline {
                for await _ in wait.turn.stream {}
                try Task.checkCancellation()
            }
        }

        /// Gives all bytes back.
        func giveBack() {
            for wait in budget.state.withLock({ $0.remove(number) }) { wait.turn.continuation.finish() }
        }
    }
}
