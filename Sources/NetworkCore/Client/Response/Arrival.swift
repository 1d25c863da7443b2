import FoundationEssentials
import HTTPTypes
import Synchronization

/// A response whose head has arrived, with its request and call, so that a later failure can say where it happened.
struct Arrival: Sendable {
    let request: TransportRequest
    let call: NetworkClient.Call
    let client: NetworkClient
    let incoming: TransportResponse

    static let refusedBytes = 65_536
    /// The timeout for that read: a server that trickles must not hold up a response that is already known.
    private static let refusedTime = Duration.seconds(1)

    var head: HTTPResponse { incoming.head }

    /// The URL that the response came from, after redirects and interceptors.
    var source: RequestURL { call.met.last?.url ?? request.url }

    func streamed<Body>(_ body: Body) -> NetworkResponse<Body> { response(body, .growing(incoming)) }

    /// Returns the response with the value made of its body, which has ended.
    func ended<Body>(_ body: Body) -> NetworkResponse<Body> { response(body, incoming.readableMetrics) }

    private func response<Body>(_ body: Body, _ metrics: ReadableMetrics) -> NetworkResponse<Body> {
        let met = call.met
        return NetworkResponse(
            body, incoming.readableHead, metrics, source, redirects: met.redirects,
            attempts: met.attempts)
    }

    func collected() async throws -> NetworkResponse<Data> {
        let body: Data
        do {
            body = try await incoming.body.collect(upTo: sent.options.maximumBodyBytes)
        } catch {
            // The rejection of a response says more than that an interceptor has read its body.
            if (error as? NetworkError)?.code == .bodyAlreadyRead { _ = try validated(Data()) }
            throw naming(error)
        }
        let response = try validated(body)
        do { try call.check(while: .decoding) } catch { throw naming(error) }
        return response
    }

    // A separate function, not inlined: an asynchronous function keeps its values in memory while it waits.
    @inline(never)
    private func validated(_ body: Data) throws -> NetworkResponse<Data> {
        let response = ended(body)
        do {
            try client.validation.check(incoming.readableHead, of: sent)
        } catch {
            throw refusing(response, for: error)
        }
        return response
    }

    /// The request as the interceptors made it.
    private var sent: TransportRequest { call.met.last ?? request }

    func asksForPart() -> Bool { sent.headerFields.contains(.range) }

    /// Returns the error with its exchange and the rejected response. An error that is not a ``NetworkError`` stays as
    /// it is. After a timeout or a cancellation, no response is attached: it was not rejected.
    func refusing(_ response: NetworkResponse<Data>, for error: any Error) -> any Error {
        let named = naming(error)
        guard var error = named as? NetworkError, ![.totalTimeout, .cancelled].contains(error.code) else {
            return named
        }
        if error.code == .unacceptableStatus, response.status == .unauthorized, !sent.hasCredentials,
            client.hasCredentials(of: request, apartFrom: sent.url)
        {
            error.message += "; the client's credentials were not sent: they are for another origin"
        }
        error.response = .init(
            status: response.status, headerFields: response.headerFields, body: response.body, decoder: client.decoder)
        return error
    }

    func naming(_ error: any Error) -> any Error {
        call.noted(in: error, of: request, transport: incoming.carrier ?? client.transport.name)
    }

    /// Rejects a head before its body is read; the error carries the start of that body.
    func validate(by validation: ResponseValidation? = nil, as head: HTTPResponse? = nil) async throws {
        let validation = validation ?? client.validation
        do {
            if let head { try validation.check(head) } else { try validation.check(incoming.readableHead, of: sent) }
        } catch {
            throw refusing(ended(try await start()), for: error)
        }
    }

    private func start() async throws -> Data {
        let start = Guarded(Data())
        await atMost(Self.refusedTime) { [body = incoming.body] in
            do {
                for try await chunk in body {
                    let isFull = start.withLock { start in
                        start.append(chunk.prefix(Self.refusedBytes - start.count))
                        return start.count == Self.refusedBytes
                    }
                    if isFull { return }
                }
            } catch {
                // The bytes that arrived before are kept; the check for a cancelled caller is below.
                return
            }
        }
        if Task.isCancelled { throw NetworkError.cancelled }
        return start.withLock { $0 }
    }
}
