import Synchronization
import TrialSupport

/// The most threads and descriptors that the process had while something ran.
final class Peak: Sendable {
    private let start = ProcessFigures.now
    private let most: Mutex<ProcessFigures>

    init() { most = Mutex(.now) }

    /// How many threads more than at the start.
    var threads: Int { most.withLock(\.threads) - start.threads }
    /// The same of descriptors.
    var descriptors: Int { most.withLock(\.descriptors) - start.descriptors }

    /// Looks twenty times a second while `body` runs.
    func watch<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let watcher = Task.detached { [self] in
            while !Task.isCancelled {
                let figures = ProcessFigures.now
                most.withLock { most in
                    most.threads = max(most.threads, figures.threads)
                    most.descriptors = max(most.descriptors, figures.descriptors)
                }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        defer { watcher.cancel() }
        return try await body()
    }
}
