import FoundationEssentials
import HTTPTypes
import Synchronization

/// An answer whose head is there, with what it belongs to: enough to say of every later failure where it happened.
struct Arrival: Sendable {
    let request: TransportRequest
    let call: Call
    let transport: String
    let incoming: TransportResponse

    /// The most that is read of a streamed body that is refused, in bytes.
    static let refusedBytes = 65_536
    /// The longest time for that: a server that trickles must not hold up an answer that is known.
    private static let refusedTime = Duration.seconds(1)

    var head: HTTPResponse { incoming.head }

    /// The answer with its body still on its way.
    var response: Response<ResponseBody> { Response(incoming, call: call) }

    /// The answer with a value made of its body, which has ended.
    func response<Value>(_ value: Value) -> Response<Value> { Response(value, endOf: incoming, call: call) }

    /// The error with its exchange and the answer that was refused. Errors of others stay as they are, and an answer
    /// for which there was no time was not refused.
    func refusing(_ answer: Response<Data>, for error: any Error) -> any Error {
        let named = naming(error)
        guard var error = named as? NetworkError, ![.totalTimeout, .cancelled].contains(error.code) else {
            return named
        }
        error.response = .init(status: answer.status, headerFields: answer.headerFields, body: answer.value)
        return error
    }

    /// The error with its exchange, and what the call has met.
    func naming(_ error: any Error) -> any Error {
        call.noted(in: error, of: request, transport: transport)
    }

    /// Refuses a head before its body is read, with the start of that body.
    func validate(by validation: ResponseValidation) async throws {
        do {
            try validation.check(incoming)
        } catch {
            throw refusing(response(try await start()), for: error)
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

extension NetworkClient {
    /// Sends a request and returns when the head of the answer that counts is there.
    func arrival(of request: some RequestConvertible) async throws -> Arrival {
        let call = Call(totalTimeout: options.totalTimeout)
        return try await arrival(of: try encoded(request, in: call), in: call)
    }

    /// The request as it goes out. Encoding is a part of the call: it may take long, and can't be interrupted.
    func encoded(_ request: some RequestConvertible, in call: Call) throws -> TransportRequest {
        let outgoing = try request.data.transportRequest(options: options)
        do {
            try checkTime(for: outgoing, in: call)
        } catch NetworkError.totalTimeout {
            throw NetworkError.totalTimeout(of: outgoing, phase: .preparing)
                .during(outgoing, transport: transport.name, elapsed: call.elapsed)
        }
        return outgoing
    }

    /// The same for a request that is encoded already.
    func arrival(of request: TransportRequest, in call: Call) async throws -> Arrival {
        let incoming = try await carry(request, in: call)
        return Arrival(request: request, call: call, transport: transport.name, incoming: incoming)
    }

    /// The answer with its whole body, if ``validation`` takes it.
    func collected(_ arrival: Arrival) async throws -> Response<Data> {
        let body: Data
        do {
            body = try await arrival.incoming.body.collect(upTo: options.maximumBodyBytes)
        } catch {
            throw arrival.naming(error)
        }
        return try validated(body, of: arrival)
    }

    @inline(never)
    private func validated(_ body: Data, of arrival: Arrival) throws -> Response<Data> {
        let answer = arrival.response(body)
        do {
            try validation.check(arrival.incoming)
        } catch {
            throw arrival.refusing(answer, for: error)
        }
        return answer
    }
}
