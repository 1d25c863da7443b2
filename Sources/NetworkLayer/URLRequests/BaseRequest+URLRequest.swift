#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension BaseRequest {
    /// The request as a `URLRequest`. Where base and path make no URL, it is one that fails with that reason when it is
    /// sent over this library.
    public var request: URLRequest { (try? data.urlRequest()) ?? .unusable(base + path) }
}
