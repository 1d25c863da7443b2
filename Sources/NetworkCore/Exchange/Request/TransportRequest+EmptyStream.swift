import FoundationEssentials

extension TransportRequest {
    /// Returns the request with a stream of length 0 read to its end and replaced by an empty body. libcurl knows the
    /// length and would not read the stream, so extra bytes would go unseen.
    /// - Parameter capabilities: What the request is checked for before the stream runs. Default: nothing.
    /// - Throws: The stream's own error; ``NetworkError/Code/bodyLengthMismatch`` for a stream with bytes;
    ///   ``NetworkError/Code/totalTimeout`` or ``NetworkError/Code/idleTimeout``.
    package func withoutEmptyStream(
        checkedFor capabilities: TransportCapabilities? = nil
    ) async throws -> TransportRequest {
        guard case .produced(let producer)? = body?.content, producer.length == 0 else { return self }
        if let capabilities { try check(for: capabilities) }
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await producer.runToItsEnd() }
            if let limit = [options.totalTimeout, options.idleTimeout].compactMap(\.self).min() {
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw NetworkError.emptyStreamTimeout(isTotal: options.totalTimeout == limit)
                }
            }
            defer { group.cancelAll() }
            do { try await group.next() } catch is CancellationError where Task.isCancelled {
                throw NetworkError.cancelled
            }
        }
        var request = self
        request.body = .bytes(Data())
        if let total = options.totalTimeout {
            request.options.totalTimeout = max(total - (ContinuousClock.now - begin), .nanoseconds(1))
        }
        return request
    }
}

extension BodyProducer {
    fileprivate func runToItsEnd() async throws {
        try await run { chunk in
            guard chunk.isEmpty else { throw NetworkError.bodyLengthMismatch(expected: 0, got: "more") }
        }
    }
}

extension NetworkError {
    fileprivate static func emptyStreamTimeout(isTotal: Bool) -> NetworkError {
        let name = isTotal ? "totalTimeout" : "idleTimeout"
        return NetworkError(
            isTotal ? .totalTimeout : .idleTimeout, "the empty body did not end in time (\(name))",
            phase: .preparing)
    }
}
