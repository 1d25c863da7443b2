public import Foundation
public import FoundationNetworking
public import NetworkCore
import NetworkLayer

/// The behaviour of a ``URLSession``, which copies it.
///
/// Responses are not cached, so cache policies have no effect; nor has ``waitsForConnectivity``.
public final class URLSessionConfiguration: NSObject, NSCopying {
    /// A new default configuration. Sessions with one share their cookies.
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration(jar: sharedJar) }
    /// A new configuration with cookies of its own.
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration(jar: CookieJar()) }

    private static let sharedJar = CookieJar()

    /// The client below: its transport, TLS, proxy, retries and limits. Default: one over the default transport, curl
    /// unless `NETWORK_TRANSPORT` says something else.
    public var client = NetworkClient.shared
    /// The longest time without any transfer of bytes, in seconds. Default: 60. A request with a timeout other than 60
    /// s has its own.
    public var timeoutIntervalForRequest: TimeInterval = 60
    /// The longest time of a whole call, in seconds. Default: seven days.
    public var timeoutIntervalForResource: TimeInterval = 604_800
    /// Header fields for each request that does not have them.
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    /// Whether cookies are sent and stored. Default: true. They are in ``cookieJar``, not in `HTTPCookieStorage`.
    public var httpShouldSetCookies = true
    /// The jar of the cookies.
    public var cookieJar: CookieJar
    /// No effect: there is no cache.
    public var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// No effect: there is no cache.
    public var urlCache: URLCache?
    /// No effect: a request without a connection fails at once.
    public var waitsForConnectivity = false
    /// No effect: the limits are those of the client's transport.
    public var httpMaximumConnectionsPerHost = 6

    private init(jar: CookieJar) { cookieJar = jar }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = URLSessionConfiguration(jar: cookieJar)
        (copy.client, copy.httpAdditionalHeaders) = (client, httpAdditionalHeaders)
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.timeoutIntervalForResource = timeoutIntervalForResource
        (copy.httpShouldSetCookies, copy.urlCache) = (httpShouldSetCookies, urlCache)
        (copy.requestCachePolicy, copy.waitsForConnectivity) = (requestCachePolicy, waitsForConnectivity)
        copy.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
        return copy
    }

    /// The client of a session with this configuration.
    var sessionClient: NetworkClient {
        client.with { client in
            func time(_ seconds: TimeInterval) -> Duration? {
                seconds > 0 && seconds < TransportOptions.maximumTimeout / .seconds(1) ? .seconds(seconds) : nil
            }
            client.options.idleTimeout = time(timeoutIntervalForRequest)
            client.options.totalTimeout = time(timeoutIntervalForResource)
            client.validation = .any
            client.cookieJar = httpShouldSetCookies ? cookieJar : nil
        }
    }

    var additionalFields: [String: String] {
        var fields: [String: String] = [:]
        for (name, value) in httpAdditionalHeaders ?? [:] { fields["\(name.base)"] = "\(value)" }
        return fields
    }
}
