public import HTTPTypes

/// What a response's body becomes. This argument determines what ``NetworkDispatcher/send(_:as:)`` returns.
///
/// ```swift
/// let user = try await client.send(request, as: User.self).body
/// let bytes = try await client.send(request, as: .data).body
/// for try await line in try await client.send(log, as: .lines).body { print(line) }
/// let file = try await client.send(model, as: .file("/var/lib/app/model.bin")).body
/// ```
///
/// | form | `body` is | the call ends |
/// | --- | --- | --- |
/// | ``decoded(_:by:)`` | a value of a `Decodable` type | with the body |
/// | ``data`` | `Data` | with the body |
/// | ``text`` | `String` | with the body |
/// | ``file(_:options:)`` | ``DownloadedFile``, complete and on the disk | with the body |
/// | ``stream`` | ``TransportResponse/Body``, chunk by chunk, whatever the status | with the head |
/// | ``lines`` | ``ResponseLines`` | with the head |
/// | ``jsonLines(of:by:maximumLineBytes:)`` | ``JSONLines`` | with the head |
/// | ``events`` | ``ServerSentEvents``, with automatic reconnection | with the first head |
///
/// Each form except ``stream`` and ``events`` accepts the responses that ``NetworkClient/validation`` accepts. A
/// resumed file is validated as a whole (``file(_:options:)``). A collected body is limited to
/// ``TransportOptions/maximumBodyBytes``.
///
/// A form of your own is made of another form (``map(_:)``), or of the response as it arrives
/// (``init(headerFields:body:)``):
///
/// ```swift
/// extension ResponseForm<[[String]]> {
///     static var csv: Self {
///         ResponseForm<String>.text.map { text in
///             text.split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
///         }
///     }
/// }
///
/// let rows = try await client.send(RequestData(path: "users.csv"), as: .csv).body
/// ```
public struct ResponseForm<Body>: Sendable, SafelyPrinted {
    /// Header fields for a request that does not have them already.
    let fields: @Sendable (NetworkClient) -> HTTPFields
    /// Whether the response has no end of its own, so that no total timeout applies.
    let isEndless: Bool
    let receive: @Sendable (PreparedCall) async throws -> sending NetworkResponse<Body>

    init(
        isEndless: Bool = false,
        fields: @escaping @Sendable (NetworkClient) -> HTTPFields = { _ in [:] },
        receive: @escaping @Sendable (PreparedCall) async throws -> sending NetworkResponse<Body>
    ) {
        self.isEndless = isEndless
        self.fields = fields
        self.receive = receive
    }
}

extension ResponseForm {
    /// Creates a form of your own from the response as it arrives.
    ///
    /// ```swift
    /// extension ResponseForm<Int> {
    ///     /// The number of bytes of the body, none of which is kept.
    ///     static var size: Self {
    ///         ResponseForm(headerFields: [.acceptEncoding: "identity"]) { response in
    ///             try await response.body.reduce(0) { $0 + $1.count }
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// The closure gets the responses that ``NetworkClient/validation`` accepts. For every response, map the form
    /// ``stream``. What the closure leaves unread arrives until the returned response is released.
    /// - Parameters:
    ///   - headerFields: Header fields for a request that does not have them, such as `Accept`. Default: none.
    ///   - body: Makes the body of the returned response. A ``NetworkError`` that it throws gets the exchange attached;
    ///     any other error reaches the caller unchanged. The call's total timeout ends the reading of the response, and
    ///     is checked after the closure.
    public init(
        headerFields: HTTPFields = [:],
        body: @escaping @Sendable (NetworkResponse<TransportResponse.Body>) async throws -> sending Body
    ) {
        self.init(fields: { _ in headerFields }) { prepared in
            let arrival = try await prepared.arrival()
            try await arrival.validate()
            let response = arrival.streamed(arrival.incoming.body.naming { arrival.naming($0) })
            return response.replacing(try await prepared.make { try await body(response) })
        }
    }

    /// Returns the form of what a closure makes of this form's body.
    /// - Parameter body: Makes the body of the returned response, with the errors of ``init(headerFields:body:)``.
    public func map<Other>(
        _ body: @escaping @Sendable (Body) async throws -> sending Other
    ) -> ResponseForm<Other> {
        ResponseForm<Other>(isEndless: isEndless, fields: fields) { [receive] prepared in
            let response = try await receive(prepared)
            return response.replacing(try await prepared.make { try await body(response.body) })
        }
    }
}

struct PreparedCall: Sendable {
    let client: NetworkClient
    let request: TransportRequest
    let call: NetworkClient.Call

    func arrival() async throws -> Arrival { try await arrival(of: request, in: call) }

    func make<Body>(_ make: () async throws -> sending Body) async throws -> sending Body {
        do {
            let body = try await make()
            try call.check(while: .decoding)
            return body
        } catch {
            throw call.noted(in: error, of: request, transport: client.transport.name)
        }
    }

    func arrival(of request: TransportRequest, in call: NetworkClient.Call) async throws -> Arrival {
        let incoming = try await client.carry(request, in: call)
        return Arrival(request: request, call: call, client: client, incoming: incoming)
    }
}
