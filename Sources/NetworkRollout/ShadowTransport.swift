public import Logging
public import NetworkCore

/// A transport that carries every request over one transport, and some of them a second time over another, whose
/// responses it compares and drops.
///
/// ```swift
/// let transport = ShadowTransport(
///     primary: CurlNetworkDispatcher.shared, shadow: URLSessionNetworkDispatcher.shared)
/// let client = NetworkClient(transport: transport)
/// …
/// print(transport.counts)
/// ```
///
/// The response is the primary's. The shadow receives the request after the head of the primary's response has arrived,
/// on a task of its own, so it changes no response and delays none. It gets a sample of the requests
/// (``Options/share``) whose method is safe (``Options/methods``) and whose body is in memory, with the limits of
/// ``Options``: the primary may still read another body at that time, and both would read from the program's source.
/// Both transports then reach the server: a request with side effects has them twice, so add a method to
/// ``Options/methods`` only if the server can take it.
///
/// Compared are the status, the header fields with their order and case, the trailers, the error, and the body: JSON by
/// its paths, server-sent events one by one, other bodies as they are, up to ``Options/maximumComparedBytes``. `Date`
/// and the fields of a connection are not compared. A body that the program does not read to its end is compared as far
/// as the program read it. A request that the primary did not send, because it was cancelled or refused before, has no
/// shadow.
///
/// A crash or an endless loop of the shadow's transport is one of the process: nothing can keep them apart there. Where
/// that may happen, compare outside the service (`netlayer compare`).
public final class ShadowTransport: ShutsDown, NetworkDispatcher {
    private let primary: any HTTPTransport
    private let shadow: any HTTPTransport
    let options: Options
    private let gate: ShadowGate
    private let report: @Sendable (Difference) -> Void

    /// Creates a transport with a shadow.
    /// - Parameters:
    ///   - primary: The transport of every request, whose responses are returned.
    ///   - shadow: The transport to compare.
    ///   - options: The sample and the limits.
    ///   - report: Called for each pair of responses that differ, on a task of its own.
    public init(
        primary: any HTTPTransport, shadow: any HTTPTransport, options: Options = Options(),
        onDifference report: @escaping @Sendable (Difference) -> Void
    ) {
        (self.primary, self.shadow, self.options, self.report) = (primary, shadow, options, report)
        gate = ShadowGate(options)
    }

    /// Creates a transport with a shadow whose differences are logged: each kind for a host, up to a hundred, at its
    /// occurrences 1, 10, 100 and so on, with its share of the compared pairs.
    /// - Parameters:
    ///   - primary: The transport of every request, whose responses are returned.
    ///   - shadow: The transport to compare.
    ///   - options: The sample and the limits.
    ///   - logger: The logger. Default: one with the label `NetworkLayer`.
    public convenience init(
        primary: any HTTPTransport, shadow: any HTTPTransport, options: Options = Options(),
        logger: Logger = Logger(label: "NetworkLayer")
    ) {
        let log = DifferenceLog(logger, arms: (primary.name, shadow.name))
        self.init(primary: primary, shadow: shadow, options: options) { log.add($0) }
    }

    /// The name of the primary.
    public var name: String { primary.name }

    /// The capabilities of the primary. A request that needs one which the shadow lacks has no shadow.
    public var capabilities: TransportCapabilities { primary.capabilities }

    /// How many requests there were, and what became of those that had a shadow.
    public var counts: Counts { gate.counts }

    /// Returns when no shadow runs any more, for tests and for the end of a program: five seconds after
    /// ``Options/timeout`` at the latest, also if shadows begin meanwhile or the shadow's transport ignores its
    /// cancellation, and at once when the task is cancelled.
    public func waitForShadows() async {
        let limit = min(options.timeout, TransportOptions.maximumTimeout) + .seconds(5)
        await atMost(limit) { [gate] in await gate.waitUntilIdle() }
    }

    /// Sends a request over the primary, and perhaps over the shadow afterwards.
    /// - Throws: The error of the primary.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard gate.samples(request) else { return try await primary.send(request) }
        let response: TransportResponse
        do {
            response = try await primary.send(request)
        } catch {
            if ShadowExchange.isComparable(error), gate.begins() { exchange(for: request).begin(besides: error) }
            throw error
        }
        // A shadow takes its place when it begins, and not while the primary waits for its server.
        return gate.begins() ? exchange(for: request).begin(besides: response) : response
    }

    /// Shuts both transports down.
    public func shutDown(within patience: Duration) async { await [primary, shadow].shutDown(within: patience) }

    private func exchange(for request: TransportRequest) -> ShadowExchange {
        ShadowExchange(request, besides: primary.name, over: shadow, options, gate, report)
    }
}
