public import FoundationEssentials

extension RequestConvertible {
    /// Sends the request over the default transport and returns its response in a form.
    /// - Parameter form: What the body becomes: `.data`, `.text`, `.stream`, `.lines`, `.events`, `.file("…")`, …
    /// - Throws: ``NetworkCore/NetworkError``.
    public func send<Body>(as form: ResponseForm<Body>) async throws -> sending NetworkResponse<Body> {
        try await send(as: form, over: DefaultTransport.shared)
    }

    /// Sends the request over the default transport and returns its response with a decoded value.
    /// - Throws: ``NetworkCore/NetworkError``.
    public func send<Value: Decodable & SendableMetatype>(
        as type: Value.Type
    ) async throws -> sending NetworkResponse<Value> {
        try await send(as: type, over: DefaultTransport.shared)
    }

    /// It is the nearest match where nothing names the type of the response.
    @available(*, unavailable, message: "say what the body becomes: 'as: User.self', or 'as: .data', '.text', …")
    public func send() async throws -> sending NetworkResponse<Data> {
        try await send(as: .data, over: DefaultTransport.shared)
    }
}
