public import NetworkLayer

extension NetworkError {
    /// Parameters are missing, for an encoder of your own that requires some; this library never throws it.
    public static let parametersNil = NetworkError(.parametersNil, "Parameters were nil.", phase: .preparing)
    /// Parameters can't be encoded. It matches any error with ``Code/invalidParameters``.
    public static let encodingFailed = NetworkError(.invalidParameters, "Parameter encoding failed.", phase: .preparing)
    /// A `URLRequest` has no URL. It matches any error with ``Code/invalidURL``.
    public static let missingURL = NetworkError(.invalidURL, "URL is nil.", phase: .preparing)
}

extension NetworkError.Code {
    /// Parameters were required, and there were none.
    public static let parametersNil = Self(rawValue: "parametersNil")
}
