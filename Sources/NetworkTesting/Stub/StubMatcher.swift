public import NetworkCore

/// The condition that selects the requests of a stub.
///
/// ```swift
/// stub.when(.get("/users?page=2"), .json(secondPage))
/// stub.when(.post("/users").with("a name") { $0.text.contains("name") }, .status(201))
/// ```
///
/// A path matches on any host. Without a `?` it matches with any query; with one, the query must be equal, in its
/// order too. A slash before it may be missing, and characters that a URL can't have are escaped. A whole URL matches
/// on its own host alone.
public struct StubMatcher: Sendable, CustomStringConvertible {
    /// The name of the matcher in failure messages, such as `GET /users`.
    public let description: String
    let matches: @Sendable (SentRequest) -> Bool

    /// Creates a matcher from a condition.
    /// - Parameters:
    ///   - description: The name of the matcher in failure messages.
    ///   - matches: Returns whether a request matches. It may use the dispatcher, whose ``StubTransport/sent`` has the
    ///     request by then.
    public init(_ description: String, where matches: @escaping @Sendable (SentRequest) -> Bool) {
        self.description = description
        self.matches = matches
    }

    /// Matches every request.
    public static let any = StubMatcher("any request") { _ in true }

    /// Matches requests with a method and a path.
    public static func method(_ method: HTTPRequest.Method, _ path: String) -> StubMatcher {
        let target = StubTarget(path)
        return StubMatcher("\(method.rawValue) \(target.text)") { $0.method == method && target.matches($0.url) }
    }

    /// Matches requests for a path with any method.
    public static func path(_ path: String) -> StubMatcher {
        let target = StubTarget(path)
        return StubMatcher(target.text) { target.matches($0.url) }
    }

    /// Matches GET requests for a path.
    public static func get(_ path: String) -> StubMatcher { method(.get, path) }
    /// Matches POST requests for a path.
    public static func post(_ path: String) -> StubMatcher { method(.post, path) }
    /// Matches PUT requests for a path.
    public static func put(_ path: String) -> StubMatcher { method(.put, path) }
    /// Matches PATCH requests for a path.
    public static func patch(_ path: String) -> StubMatcher { method(.patch, path) }
    /// Matches DELETE requests for a path.
    public static func delete(_ path: String) -> StubMatcher { method(.delete, path) }

    /// Returns a matcher that adds a condition to this one.
    /// - Parameters:
    ///   - more: The name of the condition in failure messages.
    ///   - condition: Returns whether a request matches.
    public func with(_ more: String, where condition: @escaping @Sendable (SentRequest) -> Bool) -> StubMatcher {
        StubMatcher("\(description) with \(more)") { [matches] in matches($0) && condition($0) }
    }
}

/// What a stub says of a request's URL: a path with or without a query, or a whole URL.
private struct StubTarget: Sendable {
    /// The target in failure messages, as the test wrote it.
    let text: String
    private let url: RequestURL?
    private let isOfOneOrigin: Bool

    init(_ text: String) {
        isOfOneOrigin = text.hasBytePrefix("http://") || text.hasBytePrefix("https://")
        let slash = isOfOneOrigin || text.hasBytePrefix("/") ? "" : "/"
        url = try? RequestURL(isOfOneOrigin ? text : "http://any\(slash)\(text)")
        self.text = url == nil ? "\(text) (which is no path of a URL)" : text
    }

    func matches(_ other: RequestURL) -> Bool {
        guard let url, url.path == other.path, !isOfOneOrigin || url.hasSameOrigin(as: other) else { return false }
        return url.query == nil || url.query == other.query
    }
}
