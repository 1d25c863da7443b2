import Foundation
public import FoundationNetworking

extension NetworkResponse {
    /// The head as Foundation's type. Repeated header fields are joined by commas under the first one's name, since
    /// that type has one value per name.
    ///
    /// `nil` for a response without ``NetworkCore/NetworkResponse/url`` or
    /// ``NetworkCore/NetworkResponse/status``, for a URL that Foundation can't read, and for a `Content-Type` or
    /// `Content-Disposition` of more than 8 KiB: Foundation's time for these two grows with the square of their length.
    public var httpURLResponse: HTTPURLResponse? {
        guard status != 0, let url = url.flatMap({ URL(string: $0.absoluteString) }) else { return nil }
        // A server may send thousands of names that differ in case alone, so each field is read once.
        var values: [String: (name: String, values: [String])] = [:]
        for field in headerFields {
            values[field.name.canonicalName, default: (field.name.rawName, [])].values.append(field.value)
        }
        let fields = values.values.map { ($0.name, $0.values.joined(separator: ", ")) }
        for (name, value) in fields where value.utf8.count > Self.maximumParsedBytes {
            if ["content-type", "content-disposition"].contains(name.lowercased()) { return nil }
        }
        return HTTPURLResponse(
            url: url,
            statusCode: status.code,
            httpVersion: metrics.httpVersion.map { "HTTP/\($0)" } ?? "HTTP/1.1",
            headerFields: Dictionary(uniqueKeysWithValues: fields)
        )
    }

    private static var maximumParsedBytes: Int { 8_192 }
}
