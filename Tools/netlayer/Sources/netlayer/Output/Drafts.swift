import NetworkLayer
import Synchronization

/// The files that are not complete yet, to be deleted when the process ends without waiting.
enum Drafts {
    private static let paths = Guarded<Set<String>>([])

    static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    /// Removes a file from the list, once it has its final name or is deleted.
    static func remove(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    /// Deletes a file.
    static func delete(_ path: String) {
        Descriptor.remove(path)
        remove(path)
    }

    static func deleteAll() { paths.withLock { $0.forEach(Descriptor.remove) } }
}
