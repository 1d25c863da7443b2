import FoundationEssentials
import NetworkCore
import Synchronization

/// The start of a body that passes by, and its chunks.
final class PassingBody: Sendable {
    private struct State: Sendable {
        var bytes = Data()
        var count = 0
        var chunks: [Recording.Chunk] = []
        var lastTime: Duration
    }

    private let limit: Int
    private let state: Guarded<State>

    /// - Parameter limit: The maximum number of bytes to keep.
    init(limit: Int, at time: Duration = .zero) {
        self.limit = max(0, limit)
        state = Guarded(State(lastTime: time))
    }

    func append(_ chunk: Data, at time: Duration) {
        state.withLock { state in
            state.lastTime = time
            state.count += chunk.count
            let room = limit - state.bytes.count
            if room > 0 { state.bytes.append(room < chunk.count ? chunk.prefix(room) : chunk) }
            if state.chunks.count < Recording.maximumChunks {
                state.chunks.append(Recording.Chunk(time: time, count: chunk.count))
            } else {
                state.chunks[state.chunks.count - 1].count += chunk.count
            }
        }
    }

    /// The time of the last chunk.
    var lastTime: Duration { state.withLock(\.lastTime) }

    /// What has passed so far.
    var record: (body: Recording.Body, chunks: [Recording.Chunk]) {
        state.withLock { (Recording.Body($0.bytes, omitted: $0.count - $0.bytes.count), $0.chunks) }
    }
}
