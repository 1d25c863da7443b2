import FoundationEssentials
import HTTPTypes
import Synchronization

/// A response whose head is there, with what it belongs to: enough to say of each later failure where it happened.
struct Arrival: Sendable {
    let request: TransportRequest
    let call: NetworkClient.Call
    let client: NetworkClient
    let incoming: TransportResponse

    /// The most that is read of a streamed body that is refused, in bytes.
    static let refusedBytes = 65_536
    /// The longest time for that: a server that trickles must not hold up a response that is known.
    private static let refusedTime = Duration.seconds(1)

    var head: HTTPResponse { incoming.head }

    /// The response with its body still on its way.
    func streamed<Body>(_ body: Body) -> NetworkResponse<Body> { response(body, .growing(incoming)) }

    /// The response with what was made of its body, which has ended.
    func ended<Body>(_ body: Body) -> NetworkResponse<Body> { response(body, incoming.readableMetrics) }

    private func response<Body>(_ body: Body, _ metrics: ReadableMetrics) -> NetworkResponse<Body> {
        let met = call.met
        return NetworkResponse(
            body, incoming.readableHead, metrics, met.last?.url ?? request.url, redirects: met.redirects,
            attempts: met.attempts)
    }

    /// The response with its whole body, if the client's validation accepts it.
    func collected() async throws -> NetworkResponse<Data> {
        let body: Data
        do {
            body = try await incoming.body.collect(upTo: request.options.maximumBodyBytes)
        } catch {
            throw naming(error)
        }
        return try validated(body)
    }

    // Apart, and not inlined, for an asynchronous function keeps its values in memory while it waits.
    @inline(never)
    private func validated(_ body: Data) throws -> NetworkResponse<Data> {
        let response = ended(body)
        do {
            try client.validation.check(incoming)
        } catch {
            throw refusing(response, for: error)
        }
        return response
    }

    /// The error with its exchange and the response that was refused. Errors that are no ``NetworkError`` stay as they
    /// are, and a response for which there was no time was not refused.
    func refusing(_ response: NetworkResponse<Data>, for error: any Error) -> any Error {
        let named = naming(error)
        guard var error = named as? NetworkError, ![.totalTimeout, .cancelled].contains(error.code) else {
            return named
        }
        error.response = .init(status: response.status, headerFields: response.headerFields, body: response.body)
        return error
    }

    /// The error with its exchange, and what the call has met.
    func naming(_ error: any Error) -> any Error {
        call.noted(in: error, of: request, transport: client.transport.name)
    }

    /// Refuses a head before its body is read, with the start of that body.
    /// - Parameters:
    ///   - validation: The client's, unless another one is given.
    ///   - head: What is judged, unless it is the response's own.
    func validate(by validation: ResponseValidation? = nil, as head: HTTPResponse? = nil) async throws {
        let validation = validation ?? client.validation
        do {
            if let head { try validation.check(head) } else { try validation.check(incoming) }
        } catch {
            throw refusing(ended(try await start()), for: error)
        }
    }

    /// The start of the body, as much of it as comes in a moment. What goes wrong on its way is less than why it is
    /// read.
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
                // What arrived before is kept; whether the caller was cancelled is asked below.
                return
            }
        }
        if Task.isCancelled { throw NetworkError.cancelled }
        return start.withLock { $0 }
    }
}
