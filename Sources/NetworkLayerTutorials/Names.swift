public import Foundation
public import FoundationNetworking
public import HTTPTypes
public import NetworkLayer

/// A request's method: `.get`, `.post`, `.put`, `.delete`, `.patch`, …
public typealias HTTPMethod = HTTPRequest.Method

/// The tutorials' older name for `RequestType`.
public typealias VAService = RequestType

/// The tutorials' name for `NetworkError`.
///
/// `throw ConnError.noData`, `catch ConnError.invalidURL` and `onError(ConnError.invalidURL)` work as in the tutorials.
/// A `switch` over it needs a `default`, since there are more codes than the tutorials' two.
public typealias ConnError = NetworkError

/// A closure that receives body and response, or an error, for a `URLRequest`. Called once.
public typealias RequestCallback = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

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
