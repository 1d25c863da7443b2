import Foundation
public import FoundationNetworking

extension URLRequestBuilder {
    /// The request as a `URLRequest`.
    /// - Throws: ``NetworkCore/APIError/requestBuilderFailed``. `try builder.data.urlRequest()` makes the same and
    ///   throws the ``NetworkCore/NetworkError`` that names the culprit.
    public func build() throws -> URLRequest {
        do {
            return try data.urlRequest()
        } catch {
            throw APIError.requestBuilderFailed
        }
    }
}
