import Synchronization
import TrialSupport

/// The peak numbers of threads and descriptors of the process while `body` runs.
final class Peak: Sendable {
    private let start = ProcessFigures.now
    private let most: Mutex<ProcessFigures>

    init() { most = Mutex(.now) }

    /// The largest number of threads above the number at the start.
    var threads: Int { most.withLock(\.threads) - start.threads }
    /// The largest number of descriptors above the number at the start.
    var descriptors: Int { most.withLock(\.descriptors) - start.descriptors }

    /// Samples the numbers twenty times a second while `body` runs.
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
