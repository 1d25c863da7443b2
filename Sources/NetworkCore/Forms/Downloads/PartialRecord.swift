import FoundationEssentials
import HTTPTypes

/// What is kept beside a partial file: of which representation it is a part.
struct PartialRecord: Codable, Hashable, Sendable {
    /// The URL without its query, which may hold keys.
    var url: String
    /// The SHA-256 of the query in hexadecimal digits: another query may be another file. The parameters that sign a
    /// URL are left out, since they change with every signature. `nil` if nothing is left.
    var query: String?
    /// A strong entity tag, or the date of the last change: what If-Range takes.
    var validator: String
    /// The whole length, if the server has told it.
    var total: Int?
    /// Its Content-Type, which the answer with the rest need not repeat.
    var contentType: String?

    init(url: String, query: String? = nil, validator: String, total: Int? = nil, contentType: String? = nil) {
        self.url = url
        self.query = query
        self.validator = validator
        self.total = total
        self.contentType = contentType
    }

    /// Whether the validator is an entity tag, and not a date.
    var hasTag: Bool { validator.hasBytePrefix("\"") }

    /// The record of a whole representation that begins to arrive.
    /// - Returns: `nil` where it can't be resumed: no validator that is strong, or a coding whose bytes are not the
    ///   file's.
    init?(of head: HTTPResponse, for request: TransportRequest) {
        let coding = head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
        guard coding == "identity", let validator = Self.validator(of: head) else { return nil }
        self.init(
            url: request.url.withoutQuery,
            query: request.url.queryDigest,
            validator: validator,
            total: head.wholeLength,
            contentType: head.headerFields[.contentType].flatMap { $0.utf8.count <= 1024 ? $0 : nil }
        )
    }

    /// Whether it is a record of what a URL names.
    func isOf(_ url: RequestURL) -> Bool { self.url == url.withoutQuery && query == url.queryDigest }

    /// A strong validator (RFC 9110 §8.8.1, §13.1.5): an entity tag that is not weak; else a date of the last change
    /// that lies a second or more before the answer's own, since two changes within one second have the same.
    static func validator(of head: HTTPResponse) -> String? {
        if let tag = head.headerFields[.eTag] {
            return tag.hasBytePrefix("\"") && tag.hasByteSuffix("\"") && tag.utf8.count <= 4096 ? tag : nil
        }
        guard let text = head.headerFields[.lastModified], text.utf8.count <= 64,
            let changed = HTTPDate.parse(text, now: Date()),
            let now = head.headerFields[.date].flatMap({ HTTPDate.parse($0, now: Date()) }),
            now.timeIntervalSince(changed) >= 1
        else { return nil }
        return text
    }
}

extension HTTPResponse {
    /// The Content-Length of a whole representation.
    var wholeLength: Int? { headerFields[.contentLength].flatMap { Int($0) } }
}

extension RequestURL {
    /// The URL up to its query.
    var withoutQuery: String { replacingQuery(nil).absoluteString }

    /// See ``PartialRecord/query``.
    fileprivate var queryDigest: String? {
        let kept = query?.split(separator: "&").filter { parameter in
            let name = parameter.prefix { $0 != "=" }.lowercased()
            return !["x-amz-", "x-goog-"].contains(where: name.hasPrefix) && !["signature", "expires"].contains(name)
        }
        guard let kept, !kept.isEmpty else { return nil }
        var checksum = SHA256Checksum()
        checksum.update(Data(kept.joined(separator: "&").utf8))
        return checksum.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
