import HTTPTypes

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
public struct ResponseForm<Body>: Sendable, SafelyPrinted {
    /// Header fields for a request that does not have them already.
    let fields: @Sendable (NetworkClient) -> HTTPFields
    /// Whether the response has no end of its own, so that no total timeout applies.
    let isEndless: Bool
    /// Sends the request and makes the body.
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

/// A request that is encoded and ready to be sent.
struct PreparedCall: Sendable {
    let client: NetworkClient
    let request: TransportRequest
    let call: NetworkClient.Call

    /// Sends the request and returns when the head of its response has arrived.
    func arrival() async throws -> Arrival { try await arrival(of: request, in: call) }

    /// Sends a variant of the request and returns when the head of its response has arrived.
    func arrival(of request: TransportRequest, in call: NetworkClient.Call) async throws -> Arrival {
        let incoming = try await client.carry(request, in: call)
        return Arrival(request: request, call: call, client: client, incoming: incoming)
    }
}
