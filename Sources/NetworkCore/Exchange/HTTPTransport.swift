/// A type that carries *one* HTTP exchange: a request goes out, its response comes back. Redirects, cookies, retries,
/// validation and decoding belong to the pipeline (``NetworkClient``), so that every transport behaves alike.
///
/// To write a transport, implement ``name``, ``capabilities`` and ``send(_:)``. In `send`, call
/// ``TransportRequest/check(for:)`` first, send ``TransportRequest/wireFields`` and ``TransportRequest/wireBody()``,
/// apply the four timeouts, and throw ``NetworkError``, or the error of the request's body unchanged. The pipeline
/// carries out Digest and AWS signatures over every transport that lists
/// ``TransportCapabilities/Capability/digestAuthentication`` and ``TransportCapabilities/Capability/awsSigV4``.
///
/// A transport that also conforms to ``NetworkDispatcher``, which needs no code, can be passed wherever a dispatcher is
/// taken: `GetUsers().send(over: transport)`.
public protocol HTTPTransport: Sendable {
    /// A short name for errors and reports: `curl`, `urlsession`.
    var name: String { get }

    /// What the transport can do on this system, as found at run time.
    var capabilities: TransportCapabilities { get }

    /// Sends one request and returns its response, whatever the status: a 404 is a response, and so is a 302.
    ///
    /// Cancelling the task ends the exchange and throws ``NetworkError/Code/cancelled`` at once.
    /// - Throws: ``NetworkError``, once for each failure.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}
