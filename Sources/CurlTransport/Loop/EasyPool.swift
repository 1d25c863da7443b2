import NetworkCore
import Synchronization

/// Easy handles between two transfers. A handle costs several kilobytes and a dozen allocations to make.
final class EasyPool: Sendable {
    private let idle = Guarded<[EasyHandle]>([])
    private static let maximumIdle = 256

    /// A handle, set up for whatever it served last.
    func take() throws -> EasyHandle { try idle.withLock { $0.popLast() } ?? EasyHandle() }

    /// Takes back a handle that has left its multi handle.
    func give(_ easy: EasyHandle) {
        easy.release()
        guard easy.isReusable else { return }
        idle.withLock { if $0.count < Self.maximumIdle { $0.append(easy) } }
    }
}
