import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RequestData {
    /// The request as a transport takes it: parsed, checked and encoded.
    /// - Throws: ``NetworkError`` that names what is wrong, before anything is sent.
    public func transportRequest(options: TransportOptions = TransportOptions()) throws -> TransportRequest {
        var request = TransportRequest(method: method, url: try RequestURL(path), options: options)
        request.headerFields = try HTTPFields(checking: headers ?? [:])
        guard let parameters else { return request }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            if let problem = value.firstProblem(at: name) { throw problem }
        }
        switch method {
        case .get, .head, .delete:
            let added = QueryEncoder.encode(parameters)
            let queries = [request.url.query, added].compactMap { $0 }.filter { !$0.isEmpty }
            if !added.isEmpty { request.url = request.url.replacingQuery(queries.joined(separator: "&")) }
        default:
            request.body = .bytes(try Self.json(parameters))
            if !request.headerFields.contains(.contentType) {
                request.headerFields[.contentType] = "application/json"
            }
        }
        return request
    }

    private static func json(_ parameters: [String: ParameterValue]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(parameters)
        } catch {
            throw NetworkError(.invalidParameters, "the parameters can't be encoded: \(error)", phase: .preparing)
        }
    }
}
