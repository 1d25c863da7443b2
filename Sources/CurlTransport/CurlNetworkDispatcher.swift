import Logging
public import NetworkCore

/// A transport that sends requests with the system's libcurl: one thread, an event loop, and kept-alive connections.
///
/// ``shared`` serves most programs. Create another dispatcher for its own limits or connection pool.
/// ``shutDown(within:)`` ends a dispatcher in order; without that call it ends when its last reference is gone and no
/// body of its responses is being read.
///
/// A process that forks without exec can't use the dispatcher in the child: neither its thread nor Swift's own threads
/// survive a fork.
///
/// Requires Linux and libcurl 7.88 or later; ``capabilities`` says what the installed libcurl can do.
public final class CurlNetworkDispatcher: ShutsDown, NetworkDispatcher, RemembersNonces, ReportsStatistics {
    /// The shared dispatcher, with the default configuration.
    public static let shared = CurlNetworkDispatcher()
    /// The tutorials' name for ``shared``.
    public static var instance: CurlNetworkDispatcher { shared }

    private let loops: LoopGroup
    private let plans = Plans()
    private let http3 = HTTP3Memory()
    private let upgradesToHTTP3: Bool
    package let nonces = DigestMemory()
    /// The number of connections that one origin can keep.
    let maximumPrewarmed: Int
    /// ``Configuration/shutdownPatience``.
    public let shutdownPatience: Duration

    /// Creates a dispatcher with its own thread and connections. The thread starts with the first request.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, logger: Logger(label: "NetworkLayer.CurlTransport"))
    }

    init(configuration: Configuration, logger: @autoclosure () -> Logger) {
        loops = LoopGroup(limits: LoopLimits(configuration))
        let checked = configuration.checked
        shutdownPatience = configuration.shutdownPatience
        upgradesToHTTP3 = configuration.upgradesToHTTP3
        maximumPrewarmed = min(checked.maximumConnectionsPerOrigin, checked.maximumConnections)
        if configuration.unsafelyTrustsAnyServer {
            logger().warning("a curl dispatcher trusts any server: TLS certificates are not checked")
        }
    }

    deinit { endNow() }

    /// Shuts the dispatcher down in order: new requests are refused with ``NetworkCore/NetworkError/Code/shutDown``,
    /// running and waiting requests may finish, and whatever has not finished in time fails with the same code; its
    /// phase says how far it had come. Each exchange counts by itself: a redirect, a retry or the second round of a
    /// Digest challenge is a new request, even if its call runs already. To let calls finish, end what starts them
    /// first, wait for them, and then shut down.
    ///
    /// Returns when the dispatcher's threads have ended and its connections are closed. A second call may shorten the
    /// time. The shutdown does not wait for requests that have failed already, even if their names are still being
    /// looked up. A thread in which the C library waits for a silent name server may outlive the dispatcher, until the
    /// lookup is given up.
    /// - Parameter patience: The time that running and waiting requests may still take; `.zero` ends them at once.
    public func shutDown(within patience: Duration) async {
        defer {
            plans.forget()
            http3.forget()
        }
        for loop in loops.shutDown(within: max(.zero, patience)) { await loop.end.wait() }
    }

    /// Ends all requests at once. Returns before the threads have ended.
    func endNow() { loops.shutDown(within: .zero) }

    /// Returns an executor that runs tasks on the loop's thread, so that a response is handled on the thread where it
    /// arrived and wakes no other one.
    ///
    /// ```swift
    /// let executor = try dispatcher.loopExecutor()
    /// await withTaskExecutorPreference(executor) {
    ///     // requests, and quick work on their responses
    /// }
    /// ```
    ///
    /// The executor suits tasks that mostly wait for responses. A task that blocks or computes for long there stops
    /// every exchange of the dispatcher, so don't decode large bodies on it. With several loops this is the first
    /// loop's thread. After the dispatcher's end, such tasks continue on the global executor.
    /// - Throws: ``NetworkCore/NetworkError`` with ``NetworkCore/NetworkError/Code/shutDown`` after the shutdown, or
    ///   the error that keeps a thread from starting.
    public func loopExecutor() throws -> any TaskExecutor { try loops.first().executor }

    /// The transport's name, `curl`.
    public var name: String { capabilities.transport }

    /// The capabilities of the installed libcurl.
    public var capabilities: TransportCapabilities { Self.found }

    private static let found = TransportCapabilities(curl: Libcurl.found)

    /// The state of the connections and of the queue now, and what the dispatcher has done since it began. Of one that
    /// has been shut down, nothing is left.
    public var statistics: TransportStatistics {
        get async {
            var sum = TransportStatistics()
            for loop in loops.started { sum += await loop.statistics ?? TransportStatistics() }
            return sum
        }
    }

    /// Sends one request and returns when the response's head has arrived.
    /// - Throws: ``NetworkCore/NetworkError``; its `underlying` has the `CURLcode`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.isAuthenticatedInSteps else { return try await exchange(request) }
        return try await request.authenticated(remembering: nonces, exchange)
    }

    nonisolated(nonsending) private func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        let start = MonotonicTime.now
        do {
            let request =
                request.hasEmptyStream ? try await request.withoutEmptyStream(checkedFor: capabilities) : request
            let (transfer, loop) = try makeTransfer(request)
            let whole: WholeHead
            do { whole = try await headOfResponse(to: transfer, over: loop) } catch let error as NetworkError {
                if transfer.asksForHTTP3 { transfer.http3?.failed(error, at: .now) }
                throw error
            }
            do {
                let head = try ReceivedHead(whole)
                transfer.http3?.responded(head, asked: transfer.asksForHTTP3, at: .now)
                let body = CurlBody(transfer, head: head, loop: loop, owner: self)
                return TransportResponse(status: head.status, head: head, body: TransportResponse.Body(body))
            } catch {
                // The loop has checked the head already; should this side refuse one, its connection goes too.
                loop.cancel(transfer)
                throw error
            }
        } catch let error as NetworkError {
            throw error.during(request, transport: name, elapsed: MonotonicTime.now - start)
        }
    }

    /// Opens a connection for a request without sending the request.
    func open(_ request: TransportRequest) async throws {
        let start = MonotonicTime.now
        do {
            let (transfer, loop) = try makeTransfer(request, isPrewarming: true)
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

    nonisolated(nonsending) private func headOfResponse(
        to transfer: Transfer, over loop: CurlLoop
    ) async throws -> WholeHead {
        try await withTaskCancellationHandler {
            try await Waiter.wait(isOnLoop: loop.executor.isCurrent) { continuation in
                transfer.channel.attach(continuation)
                loop.start(transfer)
            }
        } onCancel: {
            loop.cancel(transfer)
        }
    }

    private func makeTransfer(
        _ request: TransportRequest, isPrewarming: Bool = false
    ) throws -> (Transfer, CurlLoop) {
        guard !Task.isCancelled else { throw NetworkError.cancelled }
        var request = try request.overVersionForTrailers()
        var (entry, isNew) = try entry(for: request)
        if let version = entry.plan.http3?.version(insteadOf: request.options.httpVersion, at: .now) {
            request.options.httpVersion = version
            (entry, isNew) = try self.entry(for: request)
        }
        let hasPlansLimits = isNew || entry.plan.hasLimits(of: request.options)
        if !isNew { try request.checkApartFromGroups(hasCheckedLimits: hasPlansLimits) }
        let transfer = try Transfer(
            request, plan: entry.plan, hasPlansLimits: hasPlansLimits, isPrewarming: isPrewarming)
        return (transfer, entry.loop)
    }

    private func entry(for request: TransportRequest) throws -> (entry: Plans.Entry, isNew: Bool) {
        var isNew = false
        let entry = try plans.plan(for: request) {
            isNew = true
            try request.check(for: capabilities)
            try HTTPVersionOption.check(request, support: Libcurl.found)
            let origin = Origin(request.url, request.options)
            let loop = try loops.loop(of: origin)
            let mayAsk =
                request.options.httpVersion == .http3
                || upgradesToHTTP3 && request.options.mayUpgradeToHTTP3(over: Libcurl.found)
            let plan = Plan(
                request, origin: origin, clock: loop.clock, trustsAnyServer: loop.trustsAnyServer,
                http3: origin.isSecure && mayAsk ? http3.place(of: origin, request.options) : nil)
            return Plans.Entry(plan: plan, loop: loop)
        }
        return (entry, isNew)
    }
}
