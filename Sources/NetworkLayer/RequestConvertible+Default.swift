extension RequestConvertible {
    /// The decoded value of any request, whichever way it is described, over the default transport.
    /// - Throws: ``NetworkCore/NetworkError``.
    public func response<Value: Decodable & SendableMetatype>(as type: Value.Type) async throws -> sending Value {
        try await response(as: type, from: DefaultTransport.instance)
    }
}

extension APIRequest {
    /// The decoded resource, over the default transport.
    /// - Throws: ``NetworkCore/NetworkError``.
    public func response() async throws -> sending Resource { try await response(from: DefaultTransport.instance) }
}
