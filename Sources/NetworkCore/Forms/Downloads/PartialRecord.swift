import FoundationEssentials
import HTTPTypes

/// The record next to a partial file: the representation that the bytes are a part of.
struct PartialRecord: Codable, Hashable, Sendable {
    /// The URL without its query, which may hold keys.
    var url: String
    /// The SHA-256 of the query in hexadecimal digits: a different query may mean a different file.
    var query: String?
    /// The SHA-256, in hexadecimal digits, of the URL that the response came from, if redirects led to another one: an
    /// entity tag tells the versions of one resource apart, and two resources may have the same one.
    var source: String?
    /// A strong entity tag, or the date of the last change: a value for If-Range.
    var validator: String
    var total: Int?
    /// The Content-Type, which the response with the rest need not repeat.
    var contentType: String?

    var hasTag: Bool { validator.hasBytePrefix("\"") }
}

extension PartialRecord {
    /// Creates the record of a whole representation that begins to arrive.
    init?(of head: HTTPResponse, for request: TransportRequest, from source: RequestURL) {
        let coding = head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
        guard head.status == .ok, coding == "identity", let validator = Self.validator(of: head) else { return nil }
        self.init(
            url: request.url.withoutQuery,
            query: request.url.queryDigest,
            source: source.sourceDigest == request.url.sourceDigest ? nil : source.sourceDigest,
            validator: validator,
            total: head.wholeLength,
            contentType: head.headerFields[.contentType].flatMap { $0.utf8.count <= 1024 ? $0 : nil }
        )
    }

    func isOf(_ url: RequestURL) -> Bool { self.url == url.withoutQuery && query == url.queryDigest }

    func isFrom(_ other: RequestURL) -> Bool { source.map { $0 == other.sourceDigest } ?? isOf(other) }

    /// Returns a strong validator (RFC 9110 §8.8.1, §13.1.5): an entity tag that is not weak, or else a date of the
    /// last change at least a second before the response's own date, since two changes within one second have the same
    /// date.
    static func validator(of head: HTTPResponse) -> String? {
        if let tag = head.headerFields[.eTag] {
            return tag.hasBytePrefix("\"") && tag.hasByteSuffix("\"") && tag.utf8.count <= 4096 ? tag : nil
        }
        guard let text = head.headerFields[.lastModified], text.utf8.count <= 64,
            let changed = FieldDate.parse(text),
            let now = head.headerFields[.date].flatMap(FieldDate.parse),
            now.timeIntervalSince(changed) >= 1
        else { return nil }
        return text
    }
}

extension HTTPResponse {
    /// The Content-Length of a whole representation. It does not count next to a transfer coding (RFC 9112 §6.3).
    var wholeLength: Int? {
        guard !headerFields.contains(.transferEncoding) else { return nil }
        return headerFields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

extension RequestURL {
    var withoutQuery: String { replacingQuery(nil).absoluteString }

    /// See ``PartialRecord/source``. What signs the URL is left out, as in ``PartialRecord/query``.
    fileprivate var sourceDigest: String {
        SHA256Checksum.digest("\(withoutQuery)?\(queryDigest ?? "")".utf8).hexadecimal
    }

    fileprivate var queryDigest: String? {
        let kept = query?.split(separator: "&").filter { parameter in
            let name = parameter.prefix { $0 != "=" }.lowercased()
            return !["x-amz-", "x-goog-"].contains(where: name.hasPrefix) && !["signature", "expires"].contains(name)
        }
        guard let kept, !kept.isEmpty else { return nil }
        return SHA256Checksum.digest(kept.joined(separator: "&").utf8).hexadecimal
    }
}
