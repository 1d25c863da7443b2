import FoundationEssentials
import NetworkCore
import Synchronization

/// The start of a request's body that is being read.
final class ReadBody: Sendable {
    private struct State: Sendable {
        var bytes = Data()
        var count = 0
        var lastMove: Duration
    }

    private let limit: Int
    private let state: Guarded<State>

    init(limit: Int, at time: Duration) {
        self.limit = max(0, limit)
        state = Guarded(State(lastMove: time))
    }

    /// The time of the last chunk.
    var lastMove: Duration { state.withLock(\.lastMove) }

    func append(_ chunk: Data, at time: Duration) {
        state.withLock { state in
            state.lastMove = time
            state.count += chunk.count
            state.bytes.append(chunk.prefix(max(0, limit - state.bytes.count)))
        }
    }

    /// Returns the body.
    /// - Parameter length: The number of bytes that were announced.
    /// - Throws: ``NetworkError/Code/bodyLengthMismatch``.
    func body(announced length: Int?) throws -> Recording.Body {
        let (bytes, count) = state.withLock { ($0.bytes, $0.count) }
        if let length, length != count { throw NetworkError.bodyLengthMismatch(expected: length, got: "\(count)") }
        return Recording.Body(bytes, omitted: count - bytes.count)
    }
}
