import Foundation
import FoundationNetworking
import NetworkCore

extension HTTPResponse {
    /// Creates the head of a response; `nil` if the response is not HTTP.
    init?(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else { return nil }
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name] = value }
        }
        self.init(status: .init(code: response.statusCode), headerFields: HTTPFields(unordered: fields))
    }
}

extension HTTPFields {
    /// Creates header fields from a dictionary, which has lost their order: sorted by name. Names that differ only in
    /// case become one field; names that are not tokens are skipped.
    init(unordered fields: [String: String]) {
        self.init()
        let sorted = fields.sorted { ($0.key.lowercased(), $0.key) < ($1.key.lowercased(), $1.key) }
        for (rawName, value) in sorted {
            guard let name = HTTPField.Name(rawName) else { continue }
            if name == .setCookie {
                for cookie in Self.cookies(in: value) { append(HTTPField(name: name, value: cookie)) }
            } else if let earlier = self[name] {
                self[name] = "\(earlier), \(value)"
            } else {
                append(HTTPField(name: name, value: value))
            }
        }
    }

    /// Splits several `Set-Cookie` values that were joined by a comma and a space, where that is certain: after an
    /// attribute of a cookie, before a name and `=`. The comma in `Expires=Wed, 09 Jun` is not such a place.
    ///
    /// A comma in a value stays in the value: the text after it may come from another user of the server. So a cookie
    /// without attributes absorbs the next one into its value.
    static func cookies(in joined: String) -> [String] {
        var cookies: [String] = []
        for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
            if let last = cookies.last, !startsCookie(part) || !endsCookie(last) {
                cookies[cookies.count - 1] += ",\(part)"
            } else {
                cookies.append(String(part))
            }
        }
        return cookies.enumerated().map { $0 == 0 ? $1 : String($1.dropFirst()) }
    }

    /// Returns whether a text may begin a cookie: the space of the joint, then a name.
    private static func startsCookie(_ part: Substring) -> Bool {
        guard part.utf8.first == UInt8(ascii: " "), let equals = part.utf8.firstIndex(of: UInt8(ascii: "="))
        else { return false }
        return HTTPField.Name(String(part[..<equals].dropFirst())) != nil
    }

    /// Returns whether a cookie may end here: its last part is a known attribute.
    private static func endsCookie(_ cookie: String) -> Bool {
        let parts = cookie.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard parts.count > 1, let last = parts.last else { return false }
        let name = Substring(last.prefix { $0 != UInt8(ascii: "=") })
        return attributes.contains(name.lowercased().trimmingCharacters(in: .whitespaces))
    }

    private static let attributes: Set<String> = [
        "expires", "max-age", "domain", "path", "secure", "httponly", "samesite", "partitioned", "priority",
        "sameparty", "version", "comment",
    ]
}
