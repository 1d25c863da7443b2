import Foundation
public import FoundationNetworking
import NetworkLayer

extension BaseRequest {
    /// The request as a `URLRequest`. Where base and path make no URL, it is one that is never sent: this library fails
    /// it with that reason, URLSession as an unsupported URL.
    public var request: URLRequest {
        do { return try data.urlRequest() } catch { return .refused(error) }
    }
}
