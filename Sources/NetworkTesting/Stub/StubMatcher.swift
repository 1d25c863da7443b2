public import NetworkCore

/// Which requests a stub is for.
///
/// ```swift
/// stub.when(.get("/users").with("page=2") { $0.query == "page=2" }, .json(secondPage))
/// ```
public struct StubMatcher: Sendable, CustomStringConvertible {
    /// What failures call it: `GET /users`.
    public let description: String
    let matches: @Sendable (SentRequest) -> Bool

    /// Requests for which something holds.
    /// - Parameters:
    ///   - description: What failures call it.
    ///   - matches: Whether a request is meant.
    public init(_ description: String, where matches: @escaping @Sendable (SentRequest) -> Bool) {
        self.description = description
        self.matches = matches
    }

    /// Every request.
    public static let any = StubMatcher("any request") { _ in true }

    /// Requests with a method and a path, on any host and with any query.
    public static func method(_ method: HTTPRequest.Method, _ path: String) -> StubMatcher {
        StubMatcher("\(method.rawValue) \(path)") { $0.method == method && $0.url.path == path }
    }

    /// Requests for a path by any method.
    public static func path(_ path: String) -> StubMatcher { StubMatcher(path) { $0.url.path == path } }

    /// GET of a path.
    public static func get(_ path: String) -> StubMatcher { method(.get, path) }
    /// POST to a path.
    public static func post(_ path: String) -> StubMatcher { method(.post, path) }
    /// PUT to a path.
    public static func put(_ path: String) -> StubMatcher { method(.put, path) }
    /// PATCH of a path.
    public static func patch(_ path: String) -> StubMatcher { method(.patch, path) }
    /// DELETE of a path.
    public static func delete(_ path: String) -> StubMatcher { method(.delete, path) }

    /// Those of them for which something more holds.
    /// - Parameters:
    ///   - more: What failures call it.
    ///   - condition: Whether a request is meant.
    public func with(_ more: String, where condition: @escaping @Sendable (SentRequest) -> Bool) -> StubMatcher {
        StubMatcher("\(description) with \(more)") { [matches] in matches($0) && condition($0) }
    }
}
