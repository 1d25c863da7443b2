extension RequestConvertible {
    /// Sends the request and returns its response in a form.
    ///
    /// ```swift
    /// let page = try await MovieFeed.topRated.send(as: .text, over: client).body
    /// ```
    /// - Parameters:
    ///   - form: What the body becomes: `.data`, `.text`, `.stream`, `.lines`, `.events`, `.file("…")`, …
    ///   - dispatcher: The dispatcher that carries the request: a client, a transport, or one of your own.
    /// - Throws: ``NetworkError``, or the error of a dispatcher of your own.
    public func send<Body>(
        as form: ResponseForm<Body>, over dispatcher: any NetworkDispatcher
    ) async throws -> sending NetworkResponse<Body> {
        try await dispatcher.send(data, as: form)
    }

    /// Sends the request and returns its response with a decoded value.
    /// - Parameters:
    ///   - type: The type to decode, with the client's decoder or else as JSON.
    ///   - dispatcher: The dispatcher that carries the request.
    /// - Throws: ``NetworkError``, or the error of a dispatcher of your own.
    public func send<Value: Decodable & SendableMetatype>(
        as type: Value.Type, over dispatcher: any NetworkDispatcher
    ) async throws -> sending NetworkResponse<Value> {
        try await dispatcher.send(data, as: .decoded(type))
    }
}

extension RequestType {
    /// Sends the request and returns its response with the decoded value.
    ///
    /// ```swift
    /// let users = try await GetUsers().send(over: client).body
    /// ```
    /// - Parameter dispatcher: The dispatcher that carries the request: a client, a transport, or one of your own.
    /// - Throws: ``NetworkError``, or the error of a dispatcher of your own.
    public func send(over dispatcher: any NetworkDispatcher) async throws -> sending NetworkResponse<ResponseType> {
        try await dispatcher.send(data, as: .decoded(ResponseType.self))
    }
}
