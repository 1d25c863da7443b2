public import NetworkLayer

extension NetworkError {
    /// Parameters that are missing where an encoder of your own needs some; this library throws it nowhere.
    public static let parametersNil = NetworkError(.parametersNil, "Parameters were nil.", phase: .preparing)
    /// Parameters that can't be encoded; matches any error with ``Code/invalidParameters``.
    public static let encodingFailed = NetworkError(.invalidParameters, "Parameter encoding failed.", phase: .preparing)
    /// A `URLRequest` without a URL; matches any error with ``Code/invalidURL``.
    public static let missingURL = NetworkError(.invalidURL, "URL is nil.", phase: .preparing)
}

extension NetworkError.Code {
    /// Parameters were needed, and there were none.
    public static let parametersNil = Self(rawValue: "parametersNil")
}
