public import FoundationEssentials
public import FoundationNetworking
public import NetworkLayer

/// A GET request made of a base URL, a path and a key, usually an enum with a case for each resource.
///
/// ```swift
/// enum MovieFeed: Endpoint {
///     case nowPlaying, topRated
///
///     var base: String { "https://api.themoviedb.org" }
///     var path: String {
///         switch self {
///         case .nowPlaying: "/3/movie/now_playing"
///         case .topRated: "/3/movie/top_rated"
///         }
///     }
///     var apiKey: String { "api_key=YOUR_KEY" }
/// }
/// ```
///
/// ``NetworkCore/RequestConvertible/data`` is made of these properties. An endpoint with its own `data` may be any
/// other request too.
public protocol BaseRequest: RequestConvertible {
    /// The scheme, the host, and the start of all paths.
    var base: String { get }
    /// The path below the base URL, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    var path: String { get }
    /// A query that each request has, such as `api_key=…`, percent-encoded already where necessary. Default: empty.
    /// Errors and logs omit it, as they do every query.
    var apiKey: String { get }
    /// Parameters of the query in addition to ``apiKey``. Default: none.
    var query: [String: ParameterValue]? { get }
}

/// Another name for ``BaseRequest``.
public typealias Endpoint = BaseRequest

extension BaseRequest {
    /// The default key: an empty text, for none.
    public var apiKey: String { "" }

    /// The default parameters: `nil`, for none.
    public var query: [String: ParameterValue]? { nil }

    /// A GET request for base and path, with the key unchanged and with the query, whose names replace those of the
    /// key.
    public var data: RequestData {
        let query = query ?? [:]
        let key = apiKey.utf8.split(separator: UInt8(ascii: "&")).filter { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return query[PercentEncoding.decoded(Substring(name)) ?? String(Substring(name))] == nil
        }
        return RequestData(path: path(with: key.map { String(Substring($0)) }), baseURL: base, query: query)
    }

    /// Returns the path with a part of a query, before its fragment.
    private func path(with pairs: [String]) -> String {
        guard !pairs.isEmpty else { return path }
        let target = path.utf8.prefix { $0 != UInt8(ascii: "#") }
        let separator = target.contains(UInt8(ascii: "?")) ? "&" : "?"
        return String(Substring(target)) + separator + pairs.joined(separator: "&")
    }

    /// The components of the URL; empty if base and path make none. Sending the request reports the problem.
    public var urlComponents: URLComponents {
        guard let url = try? data.transportRequest().url else { return URLComponents() }
        return URLComponents(string: url.absoluteString) ?? URLComponents()
    }

    /// The request as a `URLRequest`. If base and path make no URL, it is a placeholder that is never sent: this
    /// library fails it with that reason, and URLSession with an unsupported URL.
    public var request: URLRequest {
        do { return try data.urlRequest() } catch { return .refused(error) }
    }
}
