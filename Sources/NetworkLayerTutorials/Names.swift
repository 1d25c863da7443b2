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
