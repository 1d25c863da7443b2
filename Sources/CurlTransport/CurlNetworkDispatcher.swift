import Logging
public import NetworkCore

/// Carries requests over the system's libcurl: one thread, an event loop, kept-alive connections.
///
/// ``instance`` serves most programs. Make another one for limits or a connection pool of its own.
/// ``shutDown(within:)`` ends it in order; without that it ends when its last reference goes, and no body of its
/// responses is being read.
///
/// A process that forks without exec can't use it in the child: neither its thread nor Swift's own survive a fork.
///
/// Needs Linux and libcurl 7.74 or later; ``capabilities`` tell what the one found can do.
public final class CurlNetworkDispatcher: HTTPTransport {
    /// The one that everybody shares.
    public static let instance = CurlNetworkDispatcher()

    private let loops: LoopGroup
    let tunnels = TunnelOwners()
    private let clientKeys = ClientKeyOwners()
    private let tlsTexts = TLSTextOwners()
    private let trustsAnyServer: Bool
    let maximumConnectionsPerHost: Int

    /// A dispatcher with its own thread and connections; the thread starts with the first request.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, logger: Logger(label: "NetworkLayer.CurlTransport"))
    }

    init(configuration: Configuration, logger: @autoclosure () -> Logger) {
        loops = LoopGroup(configuration: configuration.checked)
        maximumConnectionsPerHost = configuration.checked.maximumConnectionsPerHost
        trustsAnyServer = configuration.unsafelyTrustsAnyServer
        if trustsAnyServer {
            logger().warning("a curl dispatcher trusts any server: TLS certificates are not checked")
        }
    }

    deinit { loops.shutDown(within: .zero) }

    /// Ends the dispatcher in order: requests that come are refused with ``NetworkCore/NetworkError/Code/shutDown``,
    /// those that run or wait may go on to their end, and whatever has not ended in time fails with the same code.
    ///
    /// Returns when its threads have ended and its connections are closed. A second call may shorten the time. Requests
    /// that have failed already are not waited for, even if their names are still looked up; a thread in which the C
    /// library asks a name service that is silent may outlive the dispatcher, until the service is given up. libcurl
    /// below 7.87 can't leave such a thread, so there the end waits for it.
    /// - Parameter patience: How long what runs may take; `.zero` ends it at once.
    public func shutDown(within patience: Duration) async {
        for loop in loops.shutDown(within: max(.zero, patience)) { await loop.end.wait() }
    }

    /// Runs tasks on the thread of the loop, so that a response goes on where it arrived: no other thread is woken for
    /// it.
    ///
    /// ```swift
    /// let executor = try dispatcher.loopExecutor()
    /// await withTaskExecutorPreference(executor) {
    ///     // requests, and quick work on their answers
    /// }
    /// ```
    ///
    /// For tasks that mostly wait for responses. What blocks or computes for long there stops every exchange of the
    /// dispatcher, so decoding large bodies is not for it. With several loops it is the first one's thread. After the
    /// dispatcher's end such tasks go on where others run.
    /// - Throws: ``NetworkCore/NetworkError``: ``NetworkCore/NetworkError/Code/shutDown``; or what keeps a thread from
    ///   starting.
    public func loopExecutor() throws -> any TaskExecutor { try loops.first().executor }

    /// `curl`.
    public var name: String { capabilities.transport }

    /// What the libcurl found can do.
    public var capabilities: TransportCapabilities { Self.found }

    private static let found = TransportCapabilities(curl: Libcurl.found)

    /// Sends one request; returns when the response's head is there.
    /// - Throws: ``NetworkCore/NetworkError``; its `underlying` has the `CURLcode`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let start = MonotonicTime.now
        do {
            let (transfer, loop) = try makeTransfer(try await withoutEmptyStream(request))
            let headBytes = try await headOfResponse(to: transfer, over: loop)
            do {
                let head = try ReceivedHead(headBytes)
                let body = CurlBody(transfer, head: head, loop: loop, owner: self)
                return TransportResponse(status: head.status, head: head, body: TransportResponse.Body(body))
            } catch {
                // The loop has judged the head already; should this side refuse one, its connection goes too.
                loop.cancel(transfer)
                throw error
            }
        } catch let error as NetworkError {
            throw error.during(request, transport: name, elapsed: MonotonicTime.now - start)
        }
    }

    /// Opens a connection for a request that is not sent.
    func open(_ request: TransportRequest) async throws {
        let start = MonotonicTime.now
        do {
            let (transfer, loop) = try makeTransfer(request, alsoWith: [PrewarmOption()])
            transfer.isPrewarming = true
            _ = try await headOfResponse(to: transfer, over: loop)
            if transfer.channel.discard() { loop.discard(transfer) }
            throw NetworkError(
                .unsupported, "this libcurl can't open a connection without a request", phase: .connecting)
        } catch is ConnectionIsOpen {
            return
        } catch let error as NetworkError {
            throw error.during(request, transport: name, elapsed: MonotonicTime.now - start)
        }
    }

    private func headOfResponse(to transfer: Transfer, over loop: CurlLoop) async throws -> [UInt8] {
        try await withTaskCancellationHandler {
            try await Waiter.wait(isOnLoop: loop.executor.isCurrent) { continuation in
                transfer.channel.attach(continuation)
                loop.start(transfer)
            }
        } onCancel: {
            loop.cancel(transfer)
        }
    }

    /// What a request needs that must not share a connection with others whose credentials differ.
    func loneConnection(for request: TransportRequest) -> [any EasyOption] {
        tunnels.options(for: request, over: Libcurl.found) + clientKeys.options(for: request)
            + tlsTexts.options(for: request)
    }

    private func makeTransfer(
        _ request: TransportRequest, alsoWith more: [any EasyOption] = []
    ) throws -> (Transfer, CurlLoop) {
        try request.check(for: capabilities)
        guard !Task.isCancelled else { throw NetworkError.cancelled }
        let origin = Origin(request.url, request.options)
        let loop = try loops.loop(for: request.options, to: origin)
        var more = more + loneConnection(for: request)
        if trustsAnyServer { more.append(AnyServerOption()) }
        let transfer = try Transfer(request, origin: origin, clock: loop.clock, alsoWith: more)
        try loop.prepareAhead(transfer)
        return (transfer, loop)
    }
}

extension TransportCapabilities {
    /// What a libcurl can do.
    init(curl support: LibcurlSupport) {
        var supported: Set<Capability> = [
            .http1_0, .http1_1, .bodyOnGet, .streamedRequestBodies, .ipv6Literals, .rawBodies, .exactResponseFields,
            .lenientHeads, .trailers, .backPressure, .wireLog, .detailedMetrics, .firstByteTimeout, .proxyOptions,
            .connectionOptions, .nameOptions, .rateOptions, .addressPolicy,
        ]
        var reasons: [Capability: String] = [:]
        for (capability, isBuiltIn) in support.builtIn {
            if isBuiltIn {
                supported.insert(capability)
            } else {
                reasons[capability] = "this libcurl was built without it"
            }
        }
        for (capability, feature) in LibcurlSupport.byVersion {
            if support.has(feature) {
                supported.insert(capability)
            } else {
                reasons[capability] = "from libcurl \(feature.since)"
            }
        }
        for (capability, quirk, fault) in LibcurlSupport.byFault where support.suffers(from: quirk) {
            guard supported.remove(capability) != nil else { continue }
            reasons[capability] = "from libcurl \(quirk.fixedIn): \(fault)"
        }
        self.init(
            transport: "curl",
            basis: "libcurl \(support.version) (\(support.tlsLibrary ?? "no TLS"))",
            supported: supported,
            reasons: reasons,
            facts: [
                ("features", support.features.sorted().joined(separator: " ")),
                ("protocols", support.protocols.joined(separator: " ")),
                ("HTTP/2 without asking", support.http2ByDefault ? "yes" : "no: from libcurl 8.14"),
                (
                    "known faults",
                    LibcurlSupport.Quirk.allCases.filter(support.suffers).map(\.rawValue).joined(separator: " ")
                ),
            ]
        )
    }
}
