public import NetworkCore
import Synchronization

/// A recorder that keeps exchanges in memory.
///
/// ```swift
/// let memory = RecordingMemory()
/// let transport = RecordingTransport(CurlNetworkDispatcher.shared, to: memory)
/// // …
/// let entries = await memory.recording().entries
/// ```
public final class RecordingMemory: EntrySink, SafelyPrinted {
    private struct State: Sendable {
        var entries: [Recording.Entry] = []
        var bytes = 0
        var leftOut = 0
        var isFull = false
    }

    private let maximumBytes: Int
    private let queue = EntryQueue("RecordingMemory")
    private let state = Guarded(State())

    /// Creates an empty recorder.
    /// - Parameter maximumBytes: The limit on the approximate size of all entries, in bytes. After an exchange that
    ///   would exceed it, nothing more is recorded. Default: 256 MiB.
    public init(maximumBytes: Int = Recording.maximumFileBytes) { self.maximumBytes = maximumBytes }

    /// Returns the exchanges that have ended so far, without secrets, in the order in which they ended.
    public func recording() async -> Recording {
        await queue.run { [self] in Recording(entries: state.withLock(\.entries)) }
    }

    /// The number of exchanges that were not recorded: because of the limit, or while more than 64 MiB waited to be
    /// stored.
    public var leftOutCount: Int { state.withLock(\.leftOut) }

    /// The number of exchanges.
    public var description: String { "a recorder with \(state.withLock(\.entries.count)) exchanges" }

    func add(size: Int, _ make: @escaping @Sendable () -> Recording.Entry) {
        let hasRoom = state.withLock { state in
            state.isFull = state.isFull || state.bytes + size > maximumBytes
            if !state.isFull { state.bytes += size }
            return !state.isFull
        }
        let isAdded =
            hasRoom
            && queue.add(size: size) { [self] in
                let entry = make()
                state.withLock { $0.entries.append(entry) }
            }
        guard !isAdded else { return }
        state.withLock { state in
            // An entry that the queue refuses takes no room.
            if hasRoom { state.bytes -= size }
            state.leftOut += 1
        }
    }
}
