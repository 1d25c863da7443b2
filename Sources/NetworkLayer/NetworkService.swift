#if ServiceLifecycle
public import NetworkCore
public import ServiceLifecycle
public import URLSessionTransport

/// A client, or a transport, as a service of a `ServiceGroup`, which ends it in order. Requires the package trait
/// `ServiceLifecycle`.
///
/// ```swift
/// let group = ServiceGroup(
///     services: [NetworkService(client, patience: .seconds(10)), server], gracefulShutdownSignals: [.sigterm],
///     logger: logger)
/// ```
///
/// A group ends its services in reverse order: list it before the services that send with it. Clients over one
/// transport need one service. A transport that is no ``NetworkCore/ShutsDown`` ends with its last reference.
public struct NetworkService: Service {
    private let transport: any HTTPTransport
    private let patience: Duration?

    /// Creates a service that ends the transport of a client.
    /// - Parameters:
    ///   - client: The client.
    ///   - patience: The time that running requests may still take. Default: the transport's
    ///     ``NetworkCore/ShutsDown/shutdownPatience``.
    public init(_ client: NetworkClient, patience: Duration? = nil) {
        self.init(client.transport, patience: patience)
    }

    /// Creates a service that ends a transport.
    /// - Parameters:
    ///   - transport: The transport.
    ///   - patience: The time that running requests may still take. Default: the transport's
    ///     ``NetworkCore/ShutsDown/shutdownPatience``.
    public init(_ transport: any HTTPTransport, patience: Duration? = nil) {
        (self.transport, self.patience) = (transport, patience)
    }

    /// Waits for the graceful shutdown, then shuts the transport down. Cancelling the task ends it at once.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            await (transport as? any ShutsDown)?.shutDown(within: .zero)
            throw error
        }
        guard let transport = transport as? any ShutsDown else { return }
        await withTaskCancellationHandler {
            await transport.shutDown(within: patience ?? transport.shutdownPatience)
        } onCancel: {
            // A second call shortens the time of the first one.
            Task { await transport.shutDown(within: .zero) }
        }
    }
}

extension URLSessionNetworkDispatcher: Service {
    /// Waits for the graceful shutdown, then calls `shutDown(within:)` with 30 s. ``NetworkService`` takes any time.
    public func run() async throws { try await NetworkService(self).run() }
}
#endif
