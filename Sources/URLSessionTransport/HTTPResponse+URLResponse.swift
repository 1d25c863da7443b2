import Foundation
import FoundationNetworking
import NetworkCore

extension HTTPResponse {
    /// The head of a response; `nil` if it is not HTTP.
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
    /// Header fields from a dictionary, which has lost their order: sorted by name. Names that differ only in case are
    /// one field; names that are not tokens are left out.
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

    /// Several `Set-Cookie` joined by a comma and a space, taken apart again where that can be told: after an attribute
    /// of a cookie, where a name and `=` follow. The comma in `Expires=Wed, 09 Jun` is none of those.
    ///
    /// A comma in a value stays in it: the words after it may come from another user of the server. So a cookie without
    /// attributes takes the next one for a part of its value.
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

    /// Whether a text may begin a cookie: the space of the joint, then a name.
    private static func startsCookie(_ part: Substring) -> Bool {
        guard part.utf8.first == UInt8(ascii: " "), let equals = part.utf8.firstIndex(of: UInt8(ascii: "="))
        else { return false }
        return HTTPField.Name(String(part[..<equals].dropFirst())) != nil
    }

    /// Whether a cookie may end here: its last part is a known attribute.
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
