import Dispatch
import NetworkCore
import Synchronization

/// A queue on which entries are made and stored one after the other, so that no reader waits for that. The bytes that
/// wait have a limit.
final class EntryQueue: Sendable {
    private let queue: DispatchQueue
    private let waiting = Guarded(0)

    /// The limit on the bytes of all entries that wait, for a disk that is slower than the network.
    static let maximumQueued = 67_108_864

    init(_ name: String) { queue = DispatchQueue(label: "NetworkLayer.\(name)") }

    /// Adds work.
    /// - Parameter size: The number of bytes that the work holds.
    /// - Returns: Whether there was room for it.
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

/// Where a transport's recorded exchanges go.
protocol EntrySink: Sendable {
    /// Stores an entry.
    /// - Parameters:
    ///   - size: The approximate size of the entry, in bytes.
    ///   - make: Makes the entry, without its secrets. Called on the sink's own queue, or never.
    func add(size: Int, _ make: @escaping @Sendable () -> Recording.Entry)
}

extension Recording.Entry {
    /// The approximate number of bytes that the entry takes.
    var approximateSize: Int {
        Self.overhead + request.url.utf8.count + (request.body?.bytes.count ?? 0) + request.headerFields.size
            + (response?.approximateSize ?? 0) + (failure?.message.utf8.count ?? 0)
    }

    static let overhead = 1024
}

extension Recording.Response {
    fileprivate var approximateSize: Int {
        reason.utf8.count + headerFields.size + body.bytes.count
            + chunks.count * MemoryLayout<Recording.Chunk>.stride + (trailers?.size ?? 0)
    }
}

extension HTTPFields {
    /// The approximate number of bytes that the fields take, of which a short field's name and value are the least.
    var size: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + overhead } }

    private var overhead: Int { 64 }
}
