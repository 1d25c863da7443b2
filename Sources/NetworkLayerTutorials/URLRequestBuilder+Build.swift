import Foundation
public import FoundationNetworking
import NetworkLayer

extension URLRequestBuilder {
    /// The request as a `URLRequest`.
    /// - Throws: ``APIError/requestBuilderFailed``. `try builder.data.urlRequest()` makes the same and
    ///   throws the ``NetworkCore/NetworkError`` that names the culprit.
    public func build() throws -> URLRequest {
        do {
            return try data.urlRequest()
        } catch {
            throw APIError.requestBuilderFailed
        }
    }
}
