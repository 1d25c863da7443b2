extension NetworkError {
    /// The code of any error: a ``NetworkError``'s own, and ``Code/cancelled`` for Swift's `CancellationError`.
    /// `nil` for errors of other types.
    public static func code(of error: any Error) -> Code? {
        (error as? NetworkError)?.code ?? (error is CancellationError ? .cancelled : nil)
    }

    /// Matches by code, so that `catch NetworkError.totalTimeout` catches each of these errors, whatever its words.
    /// ``cancelled`` matches `CancellationError` too.
    public static func ~= (pattern: NetworkError, error: any Error) -> Bool { code(of: error) == pattern.code }

    /// The error that a caller receives: `CancellationError` where its task is cancelled and the error says just that.
    static func thrown(_ error: any Error) -> any Error {
        guard Task.isCancelled, let error = error as? NetworkError, error.code == .cancelled else { return error }
        return CancellationError()
    }
}

extension NetworkError.Code {
    /// Matches an error with this code: `catch NetworkError.Code.unacceptableStatus`. ``cancelled`` matches
    /// `CancellationError` too.
    public static func ~= (pattern: Self, error: any Error) -> Bool { NetworkError.code(of: error) == pattern }
}
