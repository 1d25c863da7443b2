public import HTTPTypes
import Synchronization

extension NetworkClient {
    /// One call through the pipeline: from the caller's request to the answer that counts, over as many exchanges as it
    /// takes.
    public final class Call: Sendable {
        /// What a call has met so far.
        struct Record: Sendable {
            var exchanges = 0
            var attempts = 1
            var redirects: [RedirectPolicy.Redirect] = []
            /// The last request that went to the transport, as the interceptors have made it.
            var last: TransportRequest?
        }

        /// A number of its own within the process, from 1.
        public let id: Int
        /// When it began.
        public let started: ContinuousClock.Instant
        /// When it has to be done: ``TransportOptions/totalTimeout`` from its start. `nil` without one.
        public let deadline: ContinuousClock.Instant?
        private let record = Guarded(Record())

        private static let lastID = Atomic(0)

        /// A call that begins now.
        /// - Parameter totalTimeout: The time that all of its exchanges have together.
        public init(totalTimeout: Duration? = nil) {
            id = Self.lastID.add(1, ordering: .relaxed).newValue
            let now = ContinuousClock.now
            started = now
            // A sum beyond what a moment can be would end the process; the transport refuses such a timeout by name.
            deadline = totalTimeout.map { now + max(.zero, min($0, .seconds(Int64.max))) }
        }

        /// How often the transport was asked: retries, redirects and renewed credentials all count.
        public var exchanges: Int { record.withLock(\.exchanges) }
        /// How often the whole was tried: 1, and 1 more for each retry.
        public var attempts: Int { record.withLock(\.attempts) }
        /// The redirects that were followed, in order.
        public var redirects: [RedirectPolicy.Redirect] { record.withLock(\.redirects) }
        /// All that a response says of its call, at once.
        var met: Record { record.withLock(\.self) }
        /// The time since its start.
        public var elapsed: Duration { .now - started }
        /// The time that is left before ``deadline``, never below zero; `nil` without one.
        public var remaining: Duration? { deadline.map { max(.zero, $0 - .now) } }

        /// An error with what the call has met: how often it was tried, how many redirects it followed, how long it
        /// took. A failure that no transport named, a deadline that passed between two exchanges for example, is named
        /// here.
        func noted(in error: any Error, of first: TransportRequest, transport: String) -> any Error {
            guard var error = error as? NetworkError else { return error }
            if error.exchange == nil, error.phase != .preparing {
                error = error.during(lastRequest(first), transport: transport, elapsed: elapsed)
            }
            if error.code == .totalTimeout, let total = first.options.totalTimeout {
                // A transport knows what was left of it.
                error.message = "the call was not done within \(total) (totalTimeout)"
            }
            let record = record.withLock(\.self)
            let repeats = error.exchange?.repeats ?? 0
            error.exchange?.attempts = record.attempts + repeats
            error.exchange?.redirects = record.redirects.count
            error.exchange?.elapsed = elapsed
            return error
        }

        /// The request whose response counts, for an error that names it.
        private func lastRequest(_ first: TransportRequest) -> TransportRequest { met.last ?? first }

        /// Notes that the whole is tried again, for a step that retries; the redirects of the attempt before no longer
        /// count.
        public func beginRetry() {
            record.withLock { record in
                record.attempts += 1
                record.redirects = []
            }
        }

        /// Notes a redirect that is followed.
        func follow(_ redirect: RedirectPolicy.Redirect) { record.withLock { $0.redirects.append(redirect) } }

        /// Notes an exchange.
        func beginExchange(_ request: TransportRequest) {
            record.withLock { record in
                record.exchanges += 1
                record.last = request
            }
        }
    }
}

extension RedirectPolicy {
    /// One redirect that was followed.
    public struct Redirect: Sendable, Hashable {
        /// The status that asked for it: 301, 302, 303, 307 or 308.
        public var status: HTTPResponse.Status
        /// Where the answer came from.
        public var from: RequestURL
        /// Where it led.
        public var to: RequestURL
        /// The method of the request that followed.
        public var method: HTTPRequest.Method

        /// A redirect.
        public init(status: HTTPResponse.Status, from: RequestURL, to: RequestURL, method: HTTPRequest.Method) {
            self.status = status
            self.from = from
            self.to = to
            self.method = method
        }
    }
}
