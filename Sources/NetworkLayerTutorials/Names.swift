public import Foundation
public import FoundationNetworking
public import HTTPTypes
public import NetworkLayer

/// A request's method: `.get`, `.post`, `.put`, `.delete`, `.patch`, …
public typealias HTTPMethod = HTTPRequest.Method

/// The tutorials' older name of `RequestType`.
public typealias VAService = RequestType

/// The tutorials' name of `NetworkError`.
///
/// `throw ConnError.noData`, `catch ConnError.invalidURL` and `onError(ConnError.invalidURL)` work as they are written
/// there. A `switch` over it needs a `default`, since there are more codes than the tutorials' two.
public typealias ConnError = NetworkError

/// What closures around `URLRequest` are called with: body and response, or an error. Called once.
public typealias RequestCallback = @Sendable (Data?, URLResponse?, (any Error)?) -> Void
