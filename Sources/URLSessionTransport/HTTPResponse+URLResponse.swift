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
    /// case become one field; names that are not tokens are skipped. One field beyond
    /// ``ExchangeState/maximumFields`` is the last: more than 65,534 would trap, and the exchange refuses them.
    init(unordered fields: [String: String]) {
        self.init()
        let sorted = fields.sorted { ($0.key.lowercased(), $0.key) < ($1.key.lowercased(), $1.key) }
        for (rawName, value) in sorted where count <= ExchangeState.maximumFields {
            guard let name = HTTPField.Name(rawName) else { continue }
            if name == .setCookie {
                let room = ExchangeState.maximumFields + 1 - count
                for cookie in Self.cookies(in: value).prefix(room) { append(HTTPField(name: name, value: cookie)) }
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
        var (cookies, last) = ([String](), LastAttribute.none)
        for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
            if !cookies.isEmpty, !startsCookie(part) || last == .none {
                cookies[cookies.count - 1] += ",\(part)"
                last = lastAttribute(in: part) ?? (last == .whole ? .none : last)
            } else {
                cookies.append(String(part))
                last = lastAttribute(in: part) ?? .none
            }
        }
        return cookies.enumerated().map { $0 == 0 ? $1 : String($1.dropFirst()) }
    }

    /// What is known of the attribute after a cookie's last semicolon. It is learned part by part: the whole cookie may
    /// be as long as all fields together.
    private enum LastAttribute {
        /// There is no attribute that is known.
        case none
        /// A known one without a value: whatever follows a comma makes it another, unknown one.
        case whole
        /// A known one with a value, in which there may be commas.
        case valued
    }

    /// Returns whether a text may begin a cookie: the space of the joint, then a name.
    private static func startsCookie(_ part: Substring) -> Bool {
        guard part.utf8.first == UInt8(ascii: " "), let equals = part.utf8.firstIndex(of: UInt8(ascii: "="))
        else { return false }
        return HTTPField.Name(String(part[..<equals].dropFirst())) != nil
    }

    /// Returns the attribute after the last semicolon of a cookie's part, at which the cookie may end if it is a known
    /// one; `nil` without a semicolon.
    private static func lastAttribute(in part: Substring) -> LastAttribute? {
        guard let semicolon = part.utf8.lastIndex(of: UInt8(ascii: ";")) else { return nil }
        let attribute = part[part.utf8.index(after: semicolon)...]
        let equals = attribute.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = attribute[..<(equals ?? attribute.endIndex)]
        guard attributes.contains(name.lowercased().trimmingCharacters(in: .whitespaces)) else {
            return LastAttribute.none
        }
        return equals == nil ? .whole : .valued
    }

    private static let attributes: Set<String> = [
        "expires", "max-age", "domain", "path", "secure", "httponly", "samesite", "partitioned", "priority",
        "sameparty", "version", "comment",
    ]
}
