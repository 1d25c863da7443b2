import FoundationEssentials

extension NetworkClient {
    /// The longest line of a text or of JSON lines, if nothing else is said: 1 MiB.
    public static let maximumLineBytes = 1 << 20

    /// The body as a text, in the charset that Content-Type names: UTF-8 (also without one), ISO-8859-1 or US-ASCII.
    ///
    /// An empty body is an empty text, and no error.
    /// - Parameters:
    ///   - request: What to ask.
    ///   - invalid: What happens to bytes that are not text in that charset.
    /// - Throws: ``NetworkError``: ``NetworkError/Code/undecodableText``, what ``validation`` refuses, the transport's.
    public func text(
        of request: some RequestConvertible,
        invalid: InvalidText = .refused
    ) async throws -> Response<String> {
        let arrival = try await arrival(of: request)
        let answer = try await collected(arrival)
        do {
            try arrival.call.check(while: .decoding)
            let charset = try Charset(of: answer.head)
            let text = try charset.text(of: answer.value, invalid: invalid, "the body") {
                try arrival.call.check(while: .decoding)
            }
            try arrival.call.check(while: .decoding)
            return answer.replacing(text)
        } catch {
            throw arrival.refusing(answer, for: error)
        }
    }

    /// The body's lines as they come, once ``validation`` has taken the head.
    /// - Parameters:
    ///   - request: What to ask.
    ///   - invalid: What happens to bytes that are not text in the charset of Content-Type.
    ///   - maximumLineBytes: The longest line; a longer one ends the sequence with ``NetworkError/Code/lineTooLong``.
    /// - Throws: ``NetworkError``. That of a refused answer has at most 64 KiB of its body.
    public func lines(
        of request: some RequestConvertible,
        invalid: InvalidText = .refused,
        maximumLineBytes: Int = NetworkClient.maximumLineBytes
    ) async throws -> Response<ResponseLines> {
        let call = Call(totalTimeout: options.totalTimeout)
        return try await lines(
            of: try encoded(request, in: call), in: call, invalid: invalid, maximumLineBytes: maximumLineBytes)
    }

    /// The same for a request that is complete already; its own options count, not the client's.
    public func lines(
        of request: TransportRequest,
        invalid: InvalidText = .refused,
        maximumLineBytes: Int = NetworkClient.maximumLineBytes
    ) async throws -> Response<ResponseLines> {
        let call = Call(totalTimeout: request.options.totalTimeout)
        return try await lines(of: request, in: call, invalid: invalid, maximumLineBytes: maximumLineBytes)
    }

    private func lines(
        of request: TransportRequest,
        in call: Call,
        invalid: InvalidText,
        maximumLineBytes: Int
    ) async throws -> Response<ResponseLines> {
        let arrival = try await arrival(of: request, in: call)
        try await arrival.validate(by: validation)
        do {
            let charset = try Charset(of: arrival.head)
            return arrival.response(
                ResponseLines(arrival: arrival, charset: charset, invalid: invalid, limit: maximumLineBytes)
            )
        } catch {
            throw arrival.naming(error)
        }
    }

    /// The values of a body of JSON lines as they come, once ``validation`` has taken the head. ``decoder`` decodes
    /// each.
    /// - Parameters:
    ///   - request: What to ask.
    ///   - type: What each line holds.
    ///   - maximumLineBytes: The longest line; a longer one ends the sequence with ``NetworkError/Code/lineTooLong``.
    /// - Throws: ``NetworkError``. That of a refused answer has at most 64 KiB of its body.
    public func jsonLines<Value: Decodable & Sendable>(
        of request: some RequestConvertible,
        as type: Value.Type,
        maximumLineBytes: Int = NetworkClient.maximumLineBytes
    ) async throws -> Response<JSONLines<Value>> {
        let arrival = try await arrival(of: request)
        try await arrival.validate(by: validation)
        return arrival.response(JSONLines(arrival: arrival, decoder: decoder, limit: maximumLineBytes))
    }
}
