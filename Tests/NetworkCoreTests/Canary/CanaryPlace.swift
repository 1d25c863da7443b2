import Foundation
import NetworkCore
import TestSupport

/// A place where a caller can put a secret, and the values that then contain it.
struct CanaryPlace: Sendable {
    let name: String
    /// Returns the values that contain the secret. A thrown error is printed too: it must not show the refused value.
    let values: @Sendable (CanarySecret) throws -> [Any]

    init(_ name: String, _ values: @escaping @Sendable (CanarySecret) throws -> [Any]) {
        self.name = name
        self.values = values
    }

    /// Returns the values, or the error.
    func exhibits(_ secret: CanarySecret) -> [Any] {
        do { return try values(secret) } catch { return [error] }
    }

    /// A place in a `RequestData`, with the transport request that results from it.
    static func described(_ name: String, _ make: @escaping @Sendable (CanarySecret) throws -> RequestData)
        -> CanaryPlace
    {
        CanaryPlace(name) { secret in
            let data = try make(secret)
            do {
                return [data] + exhibits(of: try data.transportRequest())
            } catch {
                return [data, error]
            }
        }
    }

    /// A place in a request as a transport receives it.
    static func request(
        _ name: String, _ change: @escaping @Sendable (inout TransportRequest, CanarySecret) throws -> Void
    ) -> CanaryPlace {
        CanaryPlace(name) { secret in
            var request = TransportRequest(method: .post, url: try RequestURL("https://example.com/path"))
            try change(&request, secret)
            return exhibits(of: request)
        }
    }

    /// A place in a request's options.
    static func option(
        _ name: String, _ change: @escaping @Sendable (inout TransportOptions, CanarySecret) -> Void
    ) -> CanaryPlace {
        .request(name) { request, secret in change(&request.options, secret) }
    }

    private static let everything = TransportCapabilities(
        transport: "a test", basis: "a test", supported: Set(TransportCapabilities.Capability.wellKnown))

    /// Returns the request, its parts, its curl command, and the error of its check.
    private static func exhibits(of request: TransportRequest) -> [Any] {
        let options = request.options
        var parts: [Any] = [
            request, request.url, options, request.curlCommand(), NetworkClient.Call(), options.redirects(of: request),
        ]
        if let body = request.body { parts.append(body) }
        parts += [options.tls, options.tls.authorities, options.proxy, options.connection]
        parts += [options.names, options.rate, options.addressPolicy]
        if let authentication = options.authentication { parts.append(authentication) }
        if case .awsSigV4(let signature)? = options.authentication { parts.append(signature) }
        if case .explicit(let proxy) = options.proxy { parts.append(proxy) }
        if let certificate = options.tls.clientCertificate { parts += [certificate, certificate.certificate] }
        do { try request.check(for: everything) } catch { parts.append(error) }
        return parts
    }
}

extension TransportOptions {
    fileprivate func redirects(of request: TransportRequest) -> RedirectPolicy.Redirect {
        RedirectPolicy.Redirect(status: .found, from: request.url, to: request.url, method: request.method)
    }
}
