#if ServiceLifecycle
import NetworkCore
public import ServiceLifecycle

/// With the package trait `ServiceLifecycle`: the dispatcher as a service of a `ServiceGroup`, which ends it in order.
///
/// ```swift
/// let group = ServiceGroup(services: [dispatcher, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// ```
///
/// A group ends its services last first: list the dispatcher before those who send with it.
extension CurlNetworkDispatcher: Service {
    /// Waits for the graceful shut-down, then calls ``shutDown(within:)`` with 30 seconds. Cancelling it ends the
    /// dispatcher at once.
    public func run() async throws {
        do {
            try await gracefulShutdown()
            await shutDown(within: .seconds(30))
        } catch {
            await shutDown(within: .zero)
            throw error
        }
    }
}
#endif
