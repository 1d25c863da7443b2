import Foundation
import FoundationNetworking
import NetworkCore

extension URLRequest {
    /// Longer than any exchange, in seconds: URLSession's own timeouts are wrong in several ways, so only ours count.
    static let noTimeout: TimeInterval = 10 * 365 * 86_400

    /// Creates the request for URLSession.
    /// - Throws: ``NetworkError/Code/invalidURL`` if Foundation reads the URL differently than we do.
    init(_ request: TransportRequest) throws {
        let text = Self.encoded(request.url)
        guard let url = URL(string: text, encodingInvalidCharacters: false), url.absoluteString == text else {
            throw NetworkError(.invalidURL, "Foundation can't read the URL \(request.url)", phase: .preparing)
        }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        timeoutInterval = Self.noTimeout
        httpShouldHandleCookies = false
        httpMethod = request.method.rawValue
        guard httpMethod == request.method.rawValue else {
            throw NetworkError(
                .unsupported, "URLSession writes the method '\(request.method.rawValue)' in capitals",
                phase: .preparing)
        }
        for (name, value) in Self.joined(request.wireFields) { setValue(value, forHTTPHeaderField: name) }
        if let bytes = try request.wireBody()?.knownBytes, !bytes.isEmpty { httpBody = bytes }
        for name in Self.invented where value(forHTTPHeaderField: name) == nil {
            setValue(Self.leftOut, forHTTPHeaderField: name)
        }
    }

    /// Returns the URL with `[`, `]`, and `|` percent-encoded in its path and query. Foundation would do that too, but
    /// would also encode each existing `%` again.
    static func encoded(_ url: RequestURL) -> String {
        let rest = url.path + (url.query.map { "?\($0)" } ?? "")
        let encodings: [Character: String] = ["[": "%5B", "]": "%5D", "|": "%7C"]
        return "\(url.scheme)://\(url.authority)" + rest.map { encodings[$0] ?? String($0) }.joined()
    }

    /// The fields that FoundationNetworking or its libcurl would add: a form's type for any POST body, the process's
    /// language, a wait for permission to send a large body, and what HTTP/1.1 does anyway.
    private static let invented = ["Content-Type", "Accept-Language", "Expect", "Connection"]

    /// FoundationNetworking takes this for a value and adds none of its own; libcurl takes a blank value as 'leave it
    /// out'. An empty string would be sent as an empty field.
    private static let leftOut = " "

    /// Returns one value for each name, since a dictionary can hold no more.
    static func joined(_ fields: HTTPFields) -> [(name: String, value: String)] {
        var places: [HTTPField.Name: Int] = [:]
        var joined: [(name: HTTPField.Name, values: [String])] = []
        for field in fields {
            if let place = places[field.name] {
                joined[place].values.append(field.value)
            } else {
                places[field.name] = joined.count
                joined.append((field.name, [field.value]))
            }
        }
        return joined.map { name, values in
            (name.rawName, values.joined(separator: name == .cookie ? "; " : ", "))
        }
    }
}
