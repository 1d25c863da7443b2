public import HTTPTypes
import Synchronization

extension NetworkClient {
    /// One call through the pipeline: from the caller's request to the response that is returned, over as many
    /// exchanges as it takes.
    public final class Call: Sendable {
        struct Record: Sendable {
            var exchanges = 0
            var retries = 0
            /// How often the transport itself sent the requests of exchanges again whose outcome is not the call's.
            var repeats = 0
            var redirects: [RedirectPolicy.Redirect] = []
            /// The last request that went to the transport, as the interceptors made it, or that got its response from
            /// one of them.
            var last: TransportRequest?
            /// Ends the reading of the bodies of earlier requests, where the head of the response came first.
            var stopSending: [@Sendable () -> Void] = []
            /// The number of attempts, without the repeats of the exchange whose outcome is the call's.
            var attempts: Int { repeats.addingClamped(1 + retries) }
        }

        /// The number of the call, unique in the process, from 1.
        public let id: Int
        /// The time when the call began.
        public let started: ContinuousClock.Instant
        /// The time by which the call must be done: its start plus ``TransportOptions/totalTimeout``. `nil` without a
        /// timeout.
        public let deadline: ContinuousClock.Instant?
        private let record = Guarded(Record())

        private static let lastID = Atomic(0)

        /// Creates a call that begins now.
        /// - Parameter totalTimeout: The timeout of all its exchanges together. `nil`, the default, for none.
        public init(totalTimeout: Duration? = nil) {
            id = Self.lastID.add(1, ordering: .relaxed).newValue
            let now = ContinuousClock.now
            started = now
            // The sum must not overflow, which would trap; the transport refuses such a timeout with an error that
            // names it.
            deadline = totalTimeout.map { now + max(.zero, min($0, .seconds(Int64.max))) }
        }

        /// The number of requests that went to the transport: retries, redirects and renewed credentials all count.
        public var exchanges: Int { record.withLock(\.exchanges) }
        /// The number of attempts so far: 1, and 1 more for each retry and for each time that the transport itself sent
        /// a request again (``TransportMetrics/repeats``), without those of an exchange that has not ended.
        public var attempts: Int { record.withLock(\.attempts) }
        /// The redirects that were followed, in order.
        public var redirects: [RedirectPolicy.Redirect] { record.withLock(\.redirects) }
        var met: Record { record.withLock(\.self) }
        /// The time since the call began.
        public var elapsed: Duration { .now - started }
        /// The time left before ``deadline``, never below zero; `nil` without a deadline.
        public var remaining: Duration? { deadline.map { max(.zero, $0 - .now) } }

        /// Returns an error with the history of the call: the number of attempts and redirects, and the time it took.
        func noted(in error: any Error, of first: TransportRequest, transport: String) -> any Error {
            guard var error = error as? NetworkError else { return error }
            if error.exchange == nil, error.phase != .preparing {
                error = error.during(met.last ?? first, transport: transport, elapsed: elapsed)
            }
            // A step within the call may have a timeout of its own.
            if error.code == .totalTimeout, remaining == .zero, let total = first.options.totalTimeout {
                // A transport knows only what was left of the timeout.
                error.message = "the call was not done within \(total) (totalTimeout)"
            }
            let record = record.withLock(\.self)
            let repeats = error.exchange?.repeats ?? 0
            error.exchange?.attempts = record.attempts.addingClamped(repeats)
            error.exchange?.redirectCount = record.redirects.count
            error.exchange?.elapsed = elapsed
            return error
        }

        /// Records that a step retries the whole call. The redirects of the attempt before no longer count.
        /// - Parameter response: The response that the step discards. Its ``TransportMetrics/repeats`` are attempts of
        ///   the call too.
        public func beginRetry(after response: TransportResponse? = nil) {
            record.withLock { record in
                record.retries += 1
                record.redirects = []
            }
            if let response { count(repeats: response.metrics.repeats) }
        }

        /// Records repeats of an exchange whose outcome is not the call's.
        func count(repeats: Int?) {
            guard let repeats, repeats > 0 else { return }
            record.withLock { $0.repeats = $0.repeats.addingClamped(repeats) }
        }

        /// Records that a chain of redirects may begin. The redirects of a chain before no longer count.
        func beginChain() {
            record.withLock { record in
                if !record.redirects.isEmpty { record.redirects = [] }
            }
        }

        func follow(_ redirect: RedirectPolicy.Redirect, after response: TransportResponse) {
            record.withLock { $0.redirects.append(redirect) }
            count(repeats: response.metrics.repeats)
        }

        func beginExchange(_ request: TransportRequest) {
            let readsStream = request.body.map { $0.bytes == nil } ?? false
            let (earlier, last) = record.withLock { record in
                record.exchanges += 1
                let last = record.last
                record.last = request
                guard readsStream else { return ([@Sendable () -> Void](), last) }
                defer { record.stopSending = [] }
                return (record.stopSending, last)
            }
            for stopSending in earlier { stopSending() }
            // Outside the lock: what a request holds may ask the call for something when it goes.
            _ = consume last
        }

        /// Records that a step has made the response to a request itself.
        func gotResponse(to request: TransportRequest) {
            _ = record.withLock { record in
                let last = record.last
                record.last = request
                return last
            }
        }

        func endExchange(_ response: TransportResponse) {
            guard let stopSending = response.body.record.stopSending else { return }
            record.withLock { $0.stopSending.append(stopSending) }
        }
    }
}

extension RedirectPolicy {
    /// One redirect that was followed.
    public struct Redirect: Sendable, Hashable, SafelyPrinted {
        /// The status of the redirect: 301, 302, 303, 307 or 308.
        public var status: HTTPResponse.Status
        /// The URL that responded with the redirect.
        public var from: RequestURL
        /// The URL that it led to.
        public var to: RequestURL
        /// The method of the request that followed.
        public var method: HTTPRequest.Method

        /// Creates a redirect.
        public init(status: HTTPResponse.Status, from: RequestURL, to: RequestURL, method: HTTPRequest.Method) {
            self.status = status
            self.from = from
            self.to = to
            self.method = method
        }

        /// The status, the method and both URLs, without their queries.
        public var description: String { "\(status.code) from \(from) to \(method.rawValue) \(to)" }
    }
}
