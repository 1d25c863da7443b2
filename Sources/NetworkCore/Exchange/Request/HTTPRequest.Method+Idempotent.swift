package import HTTPTypes

extension HTTPRequest.Method {
    /// Whether a second execution changes nothing more than the first (RFC 9110 §9.2.2 and the IANA registry of
    /// methods). An unknown method counts as not idempotent.
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: Self.registered.contains(rawValue)
        }
    }

    private static let registered: Set<String> = ["PROPFIND", "QUERY", "REPORT", "SEARCH"]
}
