public import Foundation
public import NetworkCore

/// What a stubbed request receives: a response, an error in its place, or what a closure makes of the request.
public struct StubResponse: Sendable, SafelyPrinted {
    enum Outcome: Sendable {
        case response(HTTPResponse, [Data], every: Duration, failure: (any Error)?)
        case failure(any Error)
        case computed(@Sendable (SentRequest) throws -> StubResponse)
        case interim([HTTPResponse], then: @Sendable () -> StubResponse)
    }

    let outcome: Outcome
    var delay = Duration.zero

    /// Returns a response whose body is the given bytes.
    public static func bytes(_ body: Data, status: Int = 200, headerFields: HTTPFields = [:]) -> StubResponse {
        chunks([body], status: status, headerFields: headerFields)
    }

    /// Returns a response whose body is a text in UTF-8.
    public static func text(_ body: String, status: Int = 200, headerFields: HTTPFields = [:]) -> StubResponse {
        bytes(Data(body.utf8), status: status, headerFields: headerFields)
    }

    /// Returns a response whose body is a value as JSON. If the value can't be encoded, the request fails with the
    /// encoder's error.
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status, 100 to 999. Default: 200.
    ///   - headerFields: The header fields. Default: `Content-Type: application/json`.
    ///   - encoder: The encoder, for a server whose keys or dates are written in another way.
    public static func json(
        _ value: some Encodable, status: Int = 200, headerFields: HTTPFields = [:], encoder: JSONEncoder = JSONEncoder()
    ) -> StubResponse {
        var headerFields = headerFields
        if !headerFields.contains(.contentType) { headerFields[.contentType] = "application/json" }
        do {
            return bytes(try encoder.encode(value), status: status, headerFields: headerFields)
        } catch {
            return failure(error)
        }
    }

    /// Returns a response whose body is a literal as JSON: `.json(["id": 1, "name": "Ada", "tags": []])`.
    @_disfavoredOverload
    public static func json(_ value: ParameterValue, status: Int = 200, headerFields: HTTPFields = [:]) -> StubResponse
    {
        json(value, status: status, headerFields: headerFields, encoder: JSONEncoder())
    }

    /// Returns a response without a body; the status must be 100 to 999.
    public static func status(_ status: Int, headerFields: HTTPFields = [:]) -> StubResponse {
        chunks([], status: status, headerFields: headerFields)
    }

    /// Returns a response whose body arrives in chunks.
    /// - Parameters:
    ///   - chunks: The chunks; empty ones are left out.
    ///   - status: The status, 100 to 999. Default: 200.
    ///   - headerFields: The header fields.
    ///   - interval: The time before each chunk, on the dispatcher's clock. Default: none.
    ///   - failure: The error that ends the body after the last chunk. Default: `nil`, a complete body.
    public static func chunks(
        _ chunks: [Data],
        status: Int = 200,
        headerFields: HTTPFields = [:],
        every interval: Duration = .zero,
        thenFailing failure: (any Error)? = nil
    ) -> StubResponse {
        // A precondition would end all tests.
        guard (100...999).contains(status) else {
            return .failure(NetworkError(.invalidOption, "the status of a stub must be 100 to 999, and is \(status)"))
        }
        return StubResponse(
            outcome: .response(
                HTTPResponse(status: .init(code: status), headerFields: headerFields), chunks.filter { !$0.isEmpty },
                every: interval, failure: failure))
    }

    /// Returns an error in place of a response, such as ``NetworkCore/NetworkError/connectTimeout``.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse(outcome: .failure(error)) }

    /// Returns a response that a closure computes from the request. An error of the closure fails the request.
    public static func computed(_ make: @escaping @Sendable (SentRequest) throws -> StubResponse) -> StubResponse {
        StubResponse(outcome: .computed(make))
    }

    /// Returns the same response after a delay on the dispatcher's clock.
    public func after(_ delay: Duration) -> StubResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// Returns the same response after interim ones, which ``NetworkCore/TransportRequest/interimResponse`` receives:
    /// `.text("page").after(interim: HTTPResponse(status: 103))`.
    public func after(interim: HTTPResponse...) -> StubResponse {
        StubResponse(outcome: .interim(interim, then: { self }))
    }

    /// The kind of response, and its size.
    public var description: String {
        switch outcome {
        case .response(let head, let chunks, _, _):
            let bytes = chunks.reduce(0) { $0 + $1.count }
            return "\(head.status.code), \(head.headerFields.count) header fields, a body of \(bytes) bytes"
        case .failure(let error): return "a failure: \(type(of: error))"
        case .computed: return "a computed response"
        case .interim(let interim, let rest): return "\(interim.count) interim responses, then \(rest())"
        }
    }
}
