#if ServiceLifecycle
import NetworkCore
public import ServiceLifecycle

/// The dispatcher as a service of a `ServiceGroup`, which shuts it down in order. Requires the package trait
/// `ServiceLifecycle`.
///
/// ```swift
/// let group = ServiceGroup(services: [dispatcher, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// ```
///
/// A group ends its services in reverse order: list the dispatcher before the services that send with it.
extension CurlNetworkDispatcher: Service {
    /// Waits for the graceful shutdown, then calls ``shutDown(within:)`` with ``Configuration/shutdownPatience``.
    /// Cancelling the task shuts the dispatcher down at once, within this time too.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            await shutDown(within: .zero)
            throw error
        }
        await withTaskCancellationHandler {
            await shutDown(within: shutdownPatience)
        } onCancel: {
            endNow()
        }
    }
}
#endif
