import Foundation
public import FoundationNetworking
import NetworkLayer

extension URLRequestBuilder {
    /// Returns the request as a `URLRequest`.
    /// - Throws: ``APIError/requestBuilderFailed``. `try builder.data.urlRequest()` returns the same request and throws
    ///   the ``NetworkCore/NetworkError`` that names the problem.
    public func build() throws -> URLRequest {
        do {
            return try data.urlRequest()
        } catch {
            throw APIError.requestBuilderFailed
        }
    }
}
