import HTTPTypes
import NetworkCore

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
