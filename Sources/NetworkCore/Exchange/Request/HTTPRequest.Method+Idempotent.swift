package import HTTPTypes

extension HTTPRequest.Method {
    /// Whether a second execution changes nothing more than the first (RFC 9110 §9.2.2). Of the registered methods
    /// besides those of RFC 9110, only the ones that change nothing count; any other method counts as not idempotent.
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: Self.registered.contains(rawValue)
        }
    }

    private static let registered: Set<String> = ["PROPFIND", "QUERY", "REPORT", "SEARCH"]
}
