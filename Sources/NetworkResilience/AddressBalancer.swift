public import NetworkCore

/// A step that spreads requests over all addresses of a name, by latency and load, and leaves out those that fail.
///
/// ```swift
/// let client = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "http://orders:8080").balanced()
/// ```
///
/// For each exchange it takes two addresses at random and, of these, the one with the lower product of its latency and
/// the requests that it has ("power of two choices"). The latency, to the head of the response, is an average over
/// ``Options/decay`` that follows a rise at once and a fall slowly. Products that differ by less than a quarter count
/// as equal. The request is then pinned to the address (``NetworkCore/TransportOptions/Names/addresses``): its URL,
/// `Host`, the name in the certificate, pinned keys and the address policy stay as they are, and each address has
/// connections of its own.
///
/// - An address that refuses connections, or fails ``Options/failures`` times in a row, is ejected: for
///   ``Options/ejectionTime``, and twice as long each time, up to ``Options/maximumEjectionTime``. Then one request at
///   a time tries it. At most ``Options/maximumEjected`` of the addresses are ejected, and never all.
/// - A request whose connection could not be made goes to another address, up to ``maximumAttempts`` in all, whatever
///   its method: no byte of it was sent. A body that can be read only once goes to one address.
/// - An address that is new, or has returned, gets a tenth of its share at first and all of it after
///   ``Options/slowStart``.
/// - The name is looked up again each ``Options/refreshInterval`` while there are requests. They don't wait for that,
///   and if it fails the last addresses stay.
///
/// If a name has addresses of both versions of IP, those of the version that the resolver lists first are used, or of
/// ``NetworkCore/TransportOptions/Connection/ipVersion``. A request passes unchanged if its URL has an address, if it
/// has `names.addresses`, `names.connectTo`, `names.dnsOverHTTPS`, a Unix socket or an explicit proxy, and after a
/// redirect to another host. The environment's proxy is bypassed for the others. The URLSession transport can't pin
/// addresses, and fails them with ``NetworkCore/NetworkError/Code/unsupported``.
///
/// It belongs in ``NetworkCore/NetworkClient/exchangeInterceptors``. Copies of a client share it.
public final class AddressBalancer: Interceptor, ReportsFigures {
    /// The limits of a balancer.
    public struct Options: Sendable {
        /// The time over which a latency is averaged, and forgotten. Default: 10 s, as in Finagle and linkerd.
        public var decay = Duration.seconds(10)
        /// The number of failures in a row that eject an address. Default: 5, as in Envoy.
        public var failures = 5
        /// How long an address is ejected at first. Default: 5 s.
        public var ejectionTime = Duration.seconds(5)
        /// The longest ejection; who works for as long begins anew with ``ejectionTime``. Default: 60 s.
        public var maximumEjectionTime = Duration.seconds(60)
        /// The share of the addresses that may be ejected at a time, from 0 to 1: one at least, unless it is 0, and
        /// never all. Default: a half.
        public var maximumEjected = 0.5
        /// The time for which a new address gets fewer requests. Default: 10 s.
        public var slowStart = Duration.seconds(10)
        /// The longest time for a connection while there is another address to try. Default: 3 s, which a lost SYN,
        /// sent again after 1 s, does not exceed.
        public var connectTimeout = Duration.seconds(3)
        /// The time between two lookups of a name. Default: 30 s.
        public var refreshInterval = Duration.seconds(30)
        /// The longest wait of a request for the first lookup, or for one after ten intervals without a request.
        /// Default: 10 s.
        public var lookUpTimeout = Duration.seconds(10)
        /// The number of addresses of a name that are used, from 1 to ``maximumAddresses``. Default: 16. Of more, each
        /// process uses others, by chance. Each has a pool of connections, of which a transport has a limited number
        /// (`CurlNetworkDispatcher.Configuration.maximumConnections`).
        public var addresses = 16
        /// The outcomes that are failures of an address. Default: ``Resilience/isTrouble(_:)``.
        public var isFailure: @Sendable (Result<TransportResponse, any Error>) -> Bool = Resilience.isTrouble

        /// The upper limit of ``addresses``: 64.
        public static let maximumAddresses = 64

        /// Creates the defaults.
        public init() {}
    }

    /// The state of a name.
    public struct State: Sendable, Hashable {
        /// The addresses in use.
        public var addresses: [Address]
        /// The time since the last lookup that has succeeded; `nil` before.
        public var age: Duration?
        /// Why the last lookup has failed; `nil` if it has not.
        public var problem: String?
    }

    /// The state of an address.
    public struct Address: Sendable, Hashable {
        /// The address, in its usual notation.
        public var address: String
        /// The requests that it got.
        public var requests: Int
        /// Those in flight: until the body of the response has ended or is released.
        public var inFlight: Int
        /// The latency that is assumed; `nil` while none is known.
        public var latency: Duration?
        /// The time for which it gets no request; `nil` if it is not ejected, and zero while one request tries it.
        public var ejected: Duration?
    }

    /// The number of addresses that one request tries: 3.
    public static let maximumAttempts = 3
    private let options: Options
    private let resolver: any AddressResolver
    private let time: StepTime
    private let random: @Sendable () -> Double
    private let names: KeyedStates<BalancedName>

    /// Creates a balancer.
    /// - Parameters:
    ///   - options: The limits.
    ///   - resolver: What finds the addresses. Default: the system.
    ///   - clock: The clock, for tests.
    public convenience init(
        options: Options = Options(), resolver: some AddressResolver = SystemResolver(),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.init(options: options, resolver: resolver, clock: clock, random: { .random(in: 0..<1) })
    }

    init(
        options: Options, resolver: some AddressResolver, clock: some Clock<Duration>,
        random: @escaping @Sendable () -> Double
    ) {
        (self.options, self.resolver, self.random, time) = (options, resolver, random, StepTime(clock))
        let elapsed = time.elapsed
        names = KeyedStates(
            isIdle: { $0.isIdle(at: elapsed(), options) }, make: { BalancedName(options, random: random) })
    }

    /// The states of the names that were met, such as `orders:8080`. Beyond ``ResilienceKey/maximumNames`` of them,
    /// requests to further names are not balanced.
    public var states: [String: State] {
        names.map { ($0.name, $0.shown(at: time.elapsed())) }.values.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }

    /// `networklayer.address.requests`, a total, and `.running`, `.latency_seconds` and `.ejected` (1 while it is), by
    /// `name` and `address`.
    public var figures: [Figure] {
        states.flatMap { name, state in
            state.addresses.flatMap { address in
                let dimensions = ["name": name, "address": address.address]
                func figure(_ name: String, _ number: Double, _ kind: Figure.Kind = .value) -> Figure {
                    Figure("networklayer.address.\(name)", number, kind, by: dimensions)
                }
                return [
                    figure("requests", Double(address.requests), .total),
                    figure("running", Double(address.inFlight)), figure("ejected", address.ejected == nil ? 0 : 1),
                ] + (address.latency.map { [figure("latency_seconds", $0 / .seconds(1))] } ?? [])
            }
        }
    }

    /// Sends the request to one address of its name.
    /// - Throws: ``NetworkCore/NetworkError/Code/nameNotResolved``, and what `next` throws.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        guard let name = name(of: request, in: call) else { return try await next(request) }
        if let lookUp = name.lookUp(at: time.elapsed(), with: resolver, time) {
            let error = NetworkError(
                .nameNotResolved, "no address of \(name.name) within \(options.lookUpTimeout) (AddressBalancer)",
                phase: .connecting)
            try await call.withinDeadline(and: options.lookUpTimeout, or: error) {
                let outcome = FirstOutcome<Void>()
                Task { outcome.finish(await lookUp.result) }
                try await outcome.value(orWhenCancelled: NetworkError.cancelled)
            }
        }
        let policy = request.options.hasRareOptions ? request.options.addressPolicy : .any
        var tried: [AddressPolicy.Address] = []
        while true {
            guard let pick = name.pick(besides: tried, policy, at: time.elapsed()) else {
                throw NetworkError(
                    .nameNotResolved, "\(name.name) has no address of the wanted version of IP (AddressBalancer)",
                    phase: .connecting)
            }
            tried.append(pick.address)
            let isReplayable = request.body?.isReplayable ?? true
            let mayTryAnother = isReplayable && pick.others > 0 && tried.count < Self.maximumAttempts
            let attempts = call.attempts
            do {
                return try await send(request, to: pick, of: name, hasOther: mayTryAnother, in: call, next)
            } catch let error as NetworkError {
                // A request that the transport had sent before, over a kept connection, may have been executed.
                let isUnsent = call.attempts == attempts || request.method.isIdempotent
                if error.saysUnreached, mayTryAnother, isUnsent, !Task.isCancelled { continue }
                throw error.naming(tried, of: name.name)
            }
        }
    }

    private func send(
        _ request: TransportRequest, to pick: BalancedName.Pick, of name: BalancedName, hasOther: Bool, in call: Call,
        _ next: Next
    ) async throws -> TransportResponse {
        var request = request
        pick.options.apply(to: &request.options)
        if hasOther {
            let longest = request.options.connectTimeout ?? options.connectTimeout
            request.options.connectTimeout = min(longest, options.connectTimeout)
        }
        let (begin, time, isFailure) = (time.elapsed(), time, options.isFailure)
        let response: TransportResponse
        do {
            response = try await next(request)
        } catch {
            let reported = call.reported(error)
            let outcome: BalancedName.Outcome =
                if let error = reported as? NetworkError, error.saysUnreached {
                    error.code == .addressRefused ? .nothing : .unreachable
                } else { isFailure(.failure(reported)) ? .failure : .nothing }
            name.observe(pick, outcome, after: time.elapsed() - begin, at: time.elapsed())
            name.end(pick)
            throw error
        }
        name.observe(
            pick, isFailure(.success(response)) ? .failure : .success, after: time.elapsed() - begin, at: time.elapsed()
        )
        return response.witnessed { event in
            switch event {
            case .bytes: return
            case .end, .release: break
            case .failure(let error):
                if isFailure(.failure(call.reported(error))) {
                    name.observe(pick, .failure, after: .zero, at: time.elapsed())
                }
            }
            name.end(pick)
        }
    }

    /// Returns the state of the name whose addresses a request may be sent to; `nil` for none.
    private func name(of request: TransportRequest, in call: Call) -> BalancedName? {
        let (url, options) = (request.url, request.options)
        guard !url.isAddress else { return nil }
        var version = TransportOptions.Connection.IPVersion.any
        if options.hasRareOptions {
            let (names, connection) = (options.names, options.connection)
            guard names.addresses.isEmpty, names.connectTo.isEmpty, names.dnsOverHTTPS == nil,
                connection.unixSocket == nil
            else { return nil }
            if case .explicit = options.proxy { return nil }
            version = connection.ipVersion
        }
        if let start = call.redirects.first?.from, start.host != url.host { return nil }
        let text = "\(url.host):\(url.effectivePort)"
        let key = version == .any ? text : "\(text) IP\(version)"
        let name = self.names.state(of: key)
        return name.belongs(to: key, host: url.host, port: url.effectivePort, version) ? name : nil
    }
}

extension NetworkError {
    /// Whether no connection was made.
    fileprivate var saysUnreached: Bool {
        code == .addressRefused || phase == .connecting && [.connectFailed, .connectTimeout, .tlsFailed].contains(code)
    }

    /// Returns the error with the addresses that were tried, the last one of which had it.
    fileprivate func naming(_ tried: [AddressPolicy.Address], of name: String) -> NetworkError {
        guard let last = tried.last, code != .cancelled else { return self }
        var error = self
        let others = tried.count > 1 ? ", after \(tried.count - 1) others of \(name)" : ""
        error.message += " (AddressBalancer: at \(last)\(others))"
        return error
    }
}

extension NetworkClient {
    /// Returns the client with a step that spreads its requests over all addresses of their names, behind its other
    /// steps of an exchange.
    ///
    /// ```swift
    /// let orders = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "http://orders:8080")
    ///     .balanced().resilient()
    /// ```
    ///
    /// Make the client once: its copies share what is known of the addresses.
    public func balanced(_ balancer: AddressBalancer = AddressBalancer()) -> NetworkClient {
        with { $0.exchangeInterceptors.append(balancer) }
    }
}
