import Dispatch
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
        let isAdded = queue.add(size: size) { [self] in
            let hasRoom = state.withLock { state in
                state.isFull = state.isFull || state.bytes + size > maximumBytes
                if state.isFull { state.leftOut += 1 } else { state.bytes += size }
                return !state.isFull
            }
            guard hasRoom else { return }
            let entry = make()
            state.withLock { $0.entries.append(entry) }
        }
        if !isAdded { state.withLock { $0.leftOut += 1 } }
    }
}

/// Where a transport's recorded exchanges go.
protocol EntrySink: Sendable {
    /// Stores what a closure makes on the sink's queue, if there is room for that size: an entry without secrets.
    func add(size: Int, _ make: @escaping @Sendable () -> Recording.Entry)
}

/// A queue on which entries are made and stored, so that no reader waits for that. What waits has a limit.
final class EntryQueue: Sendable {
    private let queue: DispatchQueue
    private let waiting = Guarded(0)

    /// The limit on the bytes of all entries that wait, for a disk that is slower than the network.
    static let maximumQueued = 67_108_864

    init(_ name: String) { queue = DispatchQueue(label: "NetworkLayer.\(name)") }

    /// Adds work that holds a number of bytes, and returns whether there was room for it.
    func add(size: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
        let hasRoom = waiting.withLock { waiting in
            guard waiting == 0 || waiting + size <= Self.maximumQueued else { return false }
            waiting += size
            return true
        }
        guard hasRoom else { return false }
        queue.async { [self] in
            work()
            waiting.withLock { $0 -= size }
        }
        return true
    }

    /// Adds work that holds no bytes, for which there is always room.
    func post(_ work: @escaping @Sendable () -> Void) { queue.async { work() } }

    /// Runs work after everything that was added so far, and returns its result.
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }
}

extension Recording.Entry {
    /// The approximate number of bytes that the entry takes.
    var approximateSize: Int {
        let texts = [request.url, response?.reason ?? "", failure?.message ?? ""].reduce(0) { $0 + $1.utf8.count }
        let heads = [request.headerFields, response?.headerFields ?? [:], response?.trailers ?? [:]]
        // What a field takes besides its name and value.
        let fields = heads.joined().reduce(0) { $0 + 64 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        let bodies = (request.body?.bytes.count ?? 0) + (response?.body.bytes.count ?? 0)
        let chunks = (response?.chunks.count ?? 0) * MemoryLayout<Recording.Chunk>.stride
        return 1024 + texts + fields + bodies + chunks
    }
}
