import Foundation
public import FoundationNetworking
import NetworkLayer

extension BaseRequest {
    /// The request as a `URLRequest`. If base and path make no URL, it is a placeholder that is never sent: this
    /// library fails it with that reason, and URLSession with an unsupported URL.
    public var request: URLRequest {
        do { return try data.urlRequest() } catch { return .refused(error) }
    }
}
