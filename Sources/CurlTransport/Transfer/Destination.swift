import HTTPTypes
import NetworkCore

/// An origin's place in a ``Pool``, with the handles that are kept for its next requests.
final class Destination {
    /// `nil` once the pool has forgotten the origin.
    private(set) var pool: Pool?
    private var handles: [(easy: EasyHandle, carried: CarriedRequest)] = []
    private var running = 0
    private var lastUsed = MonotonicTime.distantFuture

    /// The maximum number of handles that a loop keeps.
    private static let maximumHandles = 1_024

    init(pool: Pool) { self.pool = pool }

    func transferBegan() { running += 1 }

    func transferEnded(at now: MonotonicTime) {
        running -= 1
        lastUsed = now
    }

    func isIdle(since now: MonotonicTime, for time: Duration) -> Bool { running == 0 && lastUsed + time <= now }

    /// Returns a handle that a request like this one, to this origin, has left.
    func takeHandle(
        for request: TransportRequest, sending body: OutgoingBody
    ) -> (easy: EasyHandle, carried: CarriedRequest)? {
        guard let index = handles.lastIndex(where: { $0.carried.isLike(request, sending: body) }) else { return nil }
        pool?.keptHandles -= 1
        return handles.remove(at: index)
    }

    /// Keeps a handle for the next request, with the request that it was set for.
    /// - Returns: Whether there is a place for it.
    func keep(_ easy: EasyHandle, _ carried: CarriedRequest) -> Bool {
        guard let pool, pool.keptHandles < Self.maximumHandles else { return false }
        easy.leaveBody()
        pool.keptHandles += 1
        handles.append((easy, carried))
        return true
    }

    func dropHandles() {
        for handle in handles { handle.easy.close() }
        pool?.keptHandles -= handles.count
        handles = []
    }

    func drop() {
        dropHandles()
        pool = nil
    }
}

/// The request that a handle was set for.
struct CarriedRequest {
    let plan: Plan
    /// The URL as text.
    let url: String
    private let method: HTTPRequest.Method
    private let kind: OutgoingBody.Kind
    private let fields: HTTPFields
    private let decompresses: Bool

    init(_ request: TransportRequest, sending body: OutgoingBody, plan: Plan) {
        (self.plan, url, method, fields) = (plan, request.url.absoluteString, request.method, request.headerFields)
        (kind, decompresses) = (body.kind, request.options.decompress)
    }

    /// Returns whether the handle may be set for another request of the same place: they have the same method and the
    /// same kind of body.
    func isLike(_ request: TransportRequest, sending body: OutgoingBody) -> Bool {
        method == request.method && kind == body.kind
    }

    /// Returns whether another request has the same header lines.
    fileprivate func hasLines(of request: TransportRequest, plan: Plan) -> Bool {
        plan === self.plan && request.options.decompress == decompresses && request.headerFields.areSent(like: fields)
    }
}

extension EasyHandle {
    /// Prepares the handle for another request of the same place that is like the last one: sets what may
    /// differ. Everything else has the same value, and nothing is reset.
    func carry(
        _ request: TransportRequest, sending body: OutgoingBody, after last: CarriedRequest,
        for events: any EasyEvents, plan: Plan
    ) throws {
        try prepareForNext(events)
        if request.url.absoluteString != last.url { try set(request.url, isSameOrigin: true) }
        if plan !== last.plan { try plan.connectTimeout.apply(to: self) }
        if !last.hasLines(of: request, plan: plan) {
            try HeaderFieldsOption(request: request, hasBody: request.hasWireBody).apply(to: self)
        }
        if body.kind != .none { try body.attach(to: self) }
    }
}

extension HTTPFields {
    /// Returns whether the fields are the same, byte by byte and in the same order.
    fileprivate func areSent(like others: HTTPFields) -> Bool {
        guard count == others.count else { return false }
        return zip(self, others).allSatisfy {
            $0.name.rawName.hasSameBytes(as: $1.name.rawName) && $0.value.hasSameBytes(as: $1.value)
        }
    }
}
