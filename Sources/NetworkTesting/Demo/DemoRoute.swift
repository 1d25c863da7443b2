/// One route of ``DemoServer``: its methods, its path and a description for people.
public struct DemoRoute: Sendable {
    /// The methods, such as `GET`; empty for any method.
    public let methods: [String]
    /// The path, with `:name` in place of a value.
    public let path: String
    /// A one-line description of the response.
    public let summary: String

    let response: @Sendable (DemoRequest) throws -> DemoResponse

    init(
        _ methods: [String] = ["GET"],
        _ path: String,
        _ summary: String,
        response: @escaping @Sendable (DemoRequest) throws -> DemoResponse
    ) {
        self.methods = methods
        self.path = path
        self.summary = summary
        self.response = response
    }

    /// Returns the value in place of `:name` in a path, empty for none; `nil` if the path is not this route's.
    func match(_ path: String) -> String? {
        let pattern = self.path.split(separator: "/")
        let segments = path.split(separator: "/")
        guard pattern.count == segments.count else { return nil }
        var value = ""
        for (expected, segment) in zip(pattern, segments) {
            if expected.hasPrefix(":") {
                value = String(segment)
            } else if expected != segment {
                return nil
            }
        }
        return value
    }

    /// Returns whether the route takes a method. A route that takes GET takes HEAD too.
    func accepts(_ method: String) -> Bool {
        methods.isEmpty || methods.contains(method) || (method == "HEAD" && methods.contains("GET"))
    }
}
