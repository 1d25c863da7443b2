/// One route of ``DemoServer``: what it answers to, and what a person should know about it.
public struct DemoRoute: Sendable {
    /// The methods, `GET` for example; empty for any.
    public let methods: [String]
    /// The path, with `:name` where a value stands.
    public let path: String
    /// What it answers, in one line.
    public let summary: String

    let readsBody: Bool
    let answer: @Sendable (DemoRequest) async throws -> DemoAnswer

    init(
        _ methods: [String] = ["GET"],
        _ path: String,
        _ summary: String,
        readsBody: Bool = false,
        answer: @escaping @Sendable (DemoRequest) async throws -> DemoAnswer
    ) {
        self.methods = methods
        self.path = path
        self.summary = summary
        self.readsBody = readsBody
        self.answer = answer
    }

    /// The value that stands for `:name` in a path, an empty text where the route has none; `nil` if the path is not
    /// this route's.
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

    /// Whether a method is among ``methods``. HEAD goes where GET goes.
    func accepts(_ method: String) -> Bool {
        methods.isEmpty || methods.contains(method) || (method == "HEAD" && methods.contains("GET"))
    }
}
