import Foundation
public import FoundationNetworking

extension NetworkResponse {
    /// The head as Foundation's type. Repeated header fields are joined by commas, since that type has one value per
    /// name.
    ///
    /// `nil` for a response without ``NetworkCore/NetworkResponse/url``, and for a URL that Foundation can't read.
    public var httpURLResponse: HTTPURLResponse? {
        guard let url = url.flatMap({ URL(string: $0.absoluteString) }) else { return nil }
        var fields: [String: String] = [:]
        for field in headerFields where fields[field.name.rawName] == nil {
            fields[field.name.rawName] = headerFields[values: field.name].joined(separator: ", ")
        }
        return HTTPURLResponse(
            url: url,
            statusCode: status.code,
            httpVersion: metrics.httpVersion.map { "HTTP/\($0)" } ?? "HTTP/1.1",
            headerFields: fields
        )
    }
}
