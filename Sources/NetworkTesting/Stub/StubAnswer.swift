public import Foundation
public import NetworkCore

/// What a stubbed request gets: a response, a failure, or what a closure makes of the request.
public struct StubAnswer: Sendable {
    enum Outcome: Sendable {
        case response(HTTPResponse, StubBody.Content)
        case failure(any Error)
        case computed(@Sendable (SentRequest) throws -> StubAnswer)
    }

    let outcome: Outcome
    var delay = Duration.zero

    /// A response with bytes.
    public static func bytes(_ body: Data, status: Int = 200, fields: HTTPFields = [:]) -> StubAnswer {
        chunks([body], status: status, fields: fields)
    }

    /// A response with a text.
    public static func text(_ body: String, status: Int = 200, fields: HTTPFields = [:]) -> StubAnswer {
        bytes(Data(body.utf8), status: status, fields: fields)
    }

    /// A response with a value as JSON. A value that can't be encoded fails the request with the encoder's error.
    public static func json(_ value: some Encodable, status: Int = 200, fields: HTTPFields = [:]) -> StubAnswer {
        var fields = fields
        if !fields.contains(.contentType) { fields[.contentType] = "application/json" }
        do {
            return bytes(try JSONEncoder().encode(value), status: status, fields: fields)
        } catch {
            return failure(error)
        }
    }

    /// A response without a body; its status is 100 to 999.
    public static func status(_ status: Int, fields: HTTPFields = [:]) -> StubAnswer {
        chunks([], status: status, fields: fields)
    }

    /// A response whose body comes in pieces.
    /// - Parameters:
    ///   - chunks: The pieces; empty ones are left out.
    ///   - status: 100 to 999.
    ///   - fields: Header fields.
    ///   - interval: The time before each piece, on the dispatcher's clock.
    ///   - failure: How the body breaks after the last piece; `nil` for a good end.
    public static func chunks(
        _ chunks: [Data],
        status: Int = 200,
        fields: HTTPFields = [:],
        every interval: Duration = .zero,
        thenFailing failure: (any Error)? = nil
    ) -> StubAnswer {
        let content = StubBody.Content(chunks: chunks.filter { !$0.isEmpty }, interval: interval, failure: failure)
        return StubAnswer(
            outcome: .response(HTTPResponse(status: .init(code: status), headerFields: fields), content))
    }

    /// No response but an error, ``NetworkCore/NetworkError/connectTimeout`` for example.
    public static func failure(_ error: any Error) -> StubAnswer { StubAnswer(outcome: .failure(error)) }

    /// What a closure makes of the request.
    public static func computed(_ make: @escaping @Sendable (SentRequest) throws -> StubAnswer) -> StubAnswer {
        StubAnswer(outcome: .computed(make))
    }

    /// The same after a time, on the dispatcher's clock.
    public func after(_ delay: Duration) -> StubAnswer {
        var answer = self
        answer.delay = delay
        return answer
    }
}
