public import Logging
public import NetworkCore
import Synchronization

/// A transport that carries most requests over one transport and a share of them over another, the canary, and that
/// returns to the primary for good when the canary is worse beyond doubt.
///
/// ```swift
/// let transport = CanaryTransport(
///     primary: CurlNetworkDispatcher.shared, canary: URLSessionNetworkDispatcher.shared)
/// ```
///
/// Each request goes over one of the two, whose response it gets. By default each is drawn by itself; see
/// ``Options/assignment`` for requests that stay together. A request that the canary's transport can't send goes over
/// the primary.
///
/// Judged are the canary's requests, and up to four times as many of the primary's, drawn in the same way. A
/// request has failed if it ended with an error of the exchange, in the head or in the body, or with a status of 400 or
/// of 500 and above: a transport that breaks requests makes servers refuse them. A cancelled request is a failure if
/// its ``NetworkCore/TransportOptions/totalTimeout`` is over, and otherwise one that took that long. Refused options do
/// not count, and a body that the program leaves unread is no failure. Three tests decide, with any number of looks at
/// them:
///
/// - *Failures.* If both transports fail equally often, each failure is the canary's with the probability of its share
///   of what is judged, whatever the load and the time of day. The canary goes when that is no explanation any more.
/// - *Latency.* Judged requests that did not fail are taken two by two, as they end, and the time to the head is
///   compared where one of the two is the canary's. If the canary is no slower than ``Options/tolerance`` and
///   ``Options/allowedDelay`` allow, it loses at most half of these pairs.
/// - *Tail.* Of the pairs in which one took more than three times as long as the other, too, it loses at most half.
///
/// The chance that a canary is dropped though it is not worse is at most ``Options/falseAlarms`` for the whole life of
/// the transport. It holds for requests that are drawn one by one. With requests that stay together, an outage of one
/// origin or key may be the canary's bad luck: then it returns too early, which costs the experiment and no request.
public final class CanaryTransport: ShutsDown, NetworkDispatcher {
    private let primary: any HTTPTransport
    private let canary: any HTTPTransport
    private let options: Options
    private let judge: Guarded<CanaryJudge>
    private let isReturned = OneTimeFlag()
    private let report: @Sendable (Return) -> Void

    /// Creates a transport with a canary.
    /// - Parameters:
    ///   - primary: The transport of most requests.
    ///   - canary: The transport of a share of the requests.
    ///   - options: The share and the rules.
    ///   - report: Called once, when all requests go over the primary from then on.
    public init(
        primary: any HTTPTransport, canary: any HTTPTransport, options: Options = Options(),
        onReturn report: @escaping @Sendable (Return) -> Void
    ) {
        (self.primary, self.canary, self.options, self.report) = (primary, canary, options, report)
        judge = Guarded(CanaryJudge(options, arms: (primary.name, canary.name)))
    }

    /// Creates a transport with a canary whose return is logged as a warning.
    /// - Parameters:
    ///   - primary: The transport of most requests.
    ///   - canary: The transport of a share of the requests.
    ///   - options: The share and the rules.
    ///   - logger: The logger. Default: one with the label `NetworkLayer`.
    public convenience init(
        primary: any HTTPTransport, canary: any HTTPTransport, options: Options = Options(),
        logger: Logger = Logger(label: "NetworkLayer")
    ) {
        self.init(primary: primary, canary: canary, options: options) { logger.warning("\($0)", metadata: $0.metadata) }
    }

    /// The name of the primary. Errors, logs and ``NetworkCore/TransportResponse/carrier`` name the transport
    /// that carried a request.
    public var name: String { primary.name }

    /// The capabilities of the primary. A request that needs one which the canary lacks goes over the primary.
    public var capabilities: TransportCapabilities { primary.capabilities }

    /// Why all requests go over the primary; `nil` while the canary takes its share.
    public var returned: Return? { judge.withLock(\.verdict) }

    /// What was judged so far.
    public var counts: Counts { judge.withLock(\.counts) }

    /// Sends a request over one of the transports.
    /// - Throws: The error of that transport.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard !isReturned.isRaised, let arm = arm(of: request) else {
            return try await response(to: request, over: primary)
        }
        let start = ContinuousClock.now
        do {
            let response = try await response(to: request, over: arm == .canary ? canary : primary)
            let latency = start.duration(to: .now)
            if Self.isRefusal(response.status) {
                judge(arm, isFailed: true, latency)
                return response
            }
            return response.witnessed { [self] event in
                switch event {
                case .bytes: break
                case .end, .release: judge(arm, isFailed: false, latency)
                case .failure(let error): judge(arm, error, request, since: start, latency)
                }
            }
        } catch {
            judge(arm, error, request, since: start, nil)
            throw error
        }
    }

    /// Shuts both transports down.
    public func shutDown(within patience: Duration) async { await [primary, canary].shutDown(within: patience) }

    private func response(to request: TransportRequest, over transport: any HTTPTransport) async throws
        -> TransportResponse
    {
        let start = ContinuousClock.now
        do {
            var response = try await transport.send(request)
            if response.carrier == nil { response.carrier = transport.name }
            if response.joinsFields == nil {
                response.joinsFields = !transport.capabilities.supports(.exactResponseFields)
            }
            return response
        } catch let error as NetworkError where error.phase != .preparing {
            // An error without an exchange would be taken for one of the primary's.
            throw error.during(request, transport: transport.name, elapsed: start.duration(to: .now))
        }
    }

    /// Returns the arm for which a request is judged; `nil` if it goes over the primary and is not judged.
    private func arm(of request: TransportRequest) -> CanaryJudge.Arm? {
        let number = options.assignment.number(of: request)
        // Both arms are judged by the same kind of requests: those that the canary can send.
        guard number < options.share * (1 + CanaryJudge.controls),
            (try? request.check(for: canary.capabilities)) != nil
        else { return nil }
        return number < options.share ? .canary : .primary
    }

    /// - Parameter latency: The time to the head, if there was one.
    private func judge(
        _ arm: CanaryJudge.Arm, _ error: any Error, _ request: TransportRequest, since start: ContinuousClock.Instant,
        _ latency: Duration?
    ) {
        let elapsed = start.duration(to: .now)
        switch NetworkError.code(of: error) {
        case .cancelled?:
            // The pipeline ends a call at its deadline by cancelling it. Any other request has taken so long at least.
            let isLate = request.options.totalTimeout.map { elapsed >= $0 * 0.95 } ?? false
            judge(arm, isFailed: isLate, latency ?? elapsed)
        case .bodyTooLarge?: judge(arm, isFailed: false, latency)
        // An error of the program, its end, or one of the request as it is described.
        case nil, .shutDown?: break
        case _ where (error as? NetworkError)?.phase == .preparing: break
        default: judge(arm, isFailed: true, latency)
        }
    }

    private func judge(_ arm: CanaryJudge.Arm, isFailed: Bool, _ latency: Duration?) {
        let verdict = judge.withLock { judge in
            judge.add(arm, isFailed: isFailed, latency)
            return judge.verdict
        }
        if let verdict, isReturned.raise() { report(verdict) }
    }

    private static func isRefusal(_ status: HTTPResponse.Status) -> Bool { status.code == 400 || status.code >= 500 }
}
