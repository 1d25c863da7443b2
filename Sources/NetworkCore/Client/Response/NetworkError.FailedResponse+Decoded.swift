import HTTPTypes

extension NetworkError.FailedResponse {
    /// Returns the body as a value, such as a service's own description of a failure:
    ///
    /// ```swift
    /// } catch let error as NetworkError where error.code == .unacceptableStatus {
    ///     let fault = try error.response?.decoded(as: Fault.self)
    /// ```
    ///
    /// ``ProblemDetails`` reads `application/problem+json`.
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: The decoder. Default: `nil`, for ``NetworkClient/decoder`` of the client that received the
    ///     response. A service whose failures have another format than its values needs it: `by: .json`.
    /// - Throws: ``NetworkError`` with ``NetworkError/Code/decodingFailed``, or ``NetworkError/Code/noData`` for an
    ///   empty body.
    public func decoded<Value: Decodable & SendableMetatype>(
        as type: Value.Type, by decoder: (any ResponseDecoder)? = nil
    ) throws -> sending Value {
        let head = HTTPResponse(status: status, headerFields: headerFields)
        let decoder = decoder ?? self.decoder ?? .json
        return try ResponseDecoding.decode(type, from: body, of: ReadableHead(head), by: decoder)
    }
}
