import NetworkCore

/// What a stub says of a request's URL: a path with or without a query, or a whole URL.
struct StubTarget: Sendable {
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
