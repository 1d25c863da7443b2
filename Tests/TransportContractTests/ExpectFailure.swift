import NetworkLayer
import Testing

/// Expects a `NetworkError` with a code.
/// - Returns: The error, for closer looks.
@discardableResult
func expectFailure<Value>(
    _ code: NetworkError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () async throws -> Value
) async -> NetworkError? {
    do {
        _ = try await body()
        Issue.record("'\(code.rawValue)' was expected, and it succeeded", sourceLocation: sourceLocation)
        return nil
    } catch {
        let error = error as? NetworkError
        #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
        return error
    }
}
