import NetworkLayer
import Synchronization

/// The files that are not complete yet, for an end that waits for nothing.
enum Drafts {
    private static let paths = Guarded<Set<String>>([])

    static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    /// To be called when it has its name, or is deleted.
    static func remove(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    static func deleteAll() { paths.withLock { $0.forEach(Descriptor.remove) } }
}
