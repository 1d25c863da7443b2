import HTTPTypes

/// What is kept beside a partial file: of which representation it is a part.
struct PartialRecord: Codable, Hashable, Sendable {
    /// The URL without its query, which may hold keys and changes with every signature.
    var url: String
    /// A strong entity tag, or the date of the last change: what If-Range takes.
    var validator: String
    /// The whole length, if the server has told it.
    var total: Int?

    init(url: String, validator: String, total: Int? = nil) {
        self.url = url
        self.validator = validator
        self.total = total
    }

    /// The record of a whole representation that begins to arrive.
    /// - Returns: `nil` where it can't be resumed: no validator that is strong, or a coding whose bytes are not the file's.
    init?(of head: HTTPResponse, for request: TransportRequest) {
        let coding = head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
        guard coding == "identity", let validator = Self.validator(of: head) else { return nil }
        self.init(url: request.url.withoutQuery, validator: validator, total: head.wholeLength)
    }

    /// A strong validator (RFC 9110 §8.8.1, §13.1.5): an entity tag that is not weak; else a date of the last change that
    /// lies before the answer's own, since two changes within one second have the same.
    static func validator(of head: HTTPResponse) -> String? {
        if let tag = head.headerFields[.eTag] {
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count <= 4096 ? tag : nil
        }
        guard let changed = head.headerFields[.lastModified], let now = head.headerFields[.date], changed != now,
            changed.utf8.count <= 64
        else { return nil }
        return changed
    }
}

extension HTTPResponse {
    /// The Content-Length of a whole representation.
    var wholeLength: Int? { headerFields[.contentLength].flatMap { Int($0) } }
}

extension RequestURL {
    /// The URL up to its query.
    var withoutQuery: String { replacingQuery(nil).absoluteString }
}
