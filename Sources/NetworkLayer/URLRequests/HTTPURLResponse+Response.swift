import Foundation
import FoundationNetworking

extension Response {
    /// The head as Foundation's type. Repeated header fields are joined by commas, since it holds one value for a name.
    /// - Parameter url: Where the request went; after redirects it is where the last one led.
    func urlResponse(for url: RequestURL) -> HTTPURLResponse? {
        let final = redirects.last?.to ?? url
        guard let url = URL(string: final.absoluteString) else { return nil }
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
