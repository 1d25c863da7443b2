package import NetworkCore
package import Testing

/// Expects a `NetworkError` with the given code.
/// - Returns: The error, for further checks.
@discardableResult
package func expectFailure<Value>(
    _ code: NetworkError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Value
) -> NetworkError? {
    check(Result { try body() }, code, sourceLocation)
}

/// Expects a `NetworkError` with the given code from an asynchronous call.
@discardableResult
package func expectFailure<Value>(
    _ code: NetworkError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () async throws -> Value
) async -> NetworkError? {
    do {
        return check(.success(try await body()), code, sourceLocation)
    } catch {
        return check(Result<Value, any Error>.failure(error), code, sourceLocation)
    }
}

private func check<Value>(
    _ result: Result<Value, any Error>,
    _ code: NetworkError.Code,
    _ sourceLocation: SourceLocation
) -> NetworkError? {
    switch result {
    case .success:
        Issue.record("'\(code.rawValue)' expected, but the call succeeded", sourceLocation: sourceLocation)
        return nil
    case .failure(let error):
        #expect(NetworkError.code(of: error) == code, "\(error)", sourceLocation: sourceLocation)
        return error as? NetworkError ?? (error is CancellationError ? .cancelled : nil)
    }
}
