package import NetworkCore
package import Testing

/// Expects a `NetworkError` with the given code, and in the given phase if there is one.
/// - Returns: The error, for further checks.
@discardableResult
package func expectFailure<Value>(
    _ code: NetworkError.Code,
    in phase: NetworkError.Phase? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Value
) -> NetworkError? {
    check(Result { try body() }, code, phase, sourceLocation)
}

/// Expects such an error from an asynchronous call.
@discardableResult
package func expectFailure<Value>(
    _ code: NetworkError.Code,
    in phase: NetworkError.Phase? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () async throws -> Value
) async -> NetworkError? {
    do {
        return check(.success(try await body()), code, phase, sourceLocation)
    } catch {
        return check(Result<Value, any Error>.failure(error), code, phase, sourceLocation)
    }
}

private func check<Value>(
    _ result: Result<Value, any Error>,
    _ code: NetworkError.Code,
    _ phase: NetworkError.Phase?,
    _ sourceLocation: SourceLocation
) -> NetworkError? {
    switch result {
    case .success:
        Issue.record("'\(code.rawValue)' expected, but the call succeeded", sourceLocation: sourceLocation)
        return nil
    case .failure(let error):
        let found = error as? NetworkError ?? (error is CancellationError ? .cancelled : nil)
        #expect(NetworkError.code(of: error) == code, "\(error)", sourceLocation: sourceLocation)
        if let phase { #expect(found?.phase == phase, "\(error)", sourceLocation: sourceLocation) }
        return found
    }
}
