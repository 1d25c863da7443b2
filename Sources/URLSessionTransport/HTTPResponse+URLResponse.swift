import Foundation
import NetworkCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    /// Several `Set-Cookie` joined by commas, taken apart again: a comma separates where a name and `=` follow. The comma
    /// in `Expires=Wed, 09 Jun` does not.
    static func cookies(in joined: String) -> [String] {
        var cookies: [String] = []
        for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
            if cookies.isEmpty || startsCookie(part) {
                cookies.append(String(part))
            } else {
                cookies[cookies.count - 1] += ",\(part)"
            }
        }
        return cookies.map { cookie in String(cookie.drop { $0 == " " }) }
    }

    private static func startsCookie(_ part: Substring) -> Bool {
        let text = part.drop { $0 == " " }
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return false }
        return HTTPField.Name(String(text[..<equals])) != nil
    }
}
