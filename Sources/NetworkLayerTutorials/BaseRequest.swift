public import FoundationEssentials
public import NetworkLayer

/// A GET request as a base, a path and a key: an enum with a case for each resource is the usual way.
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
/// ``NetworkCore/RequestConvertible/data`` is made of these; with an own `data`, an endpoint may be any other request
/// too.
public protocol BaseRequest: RequestConvertible {
    /// Scheme, host, and what all paths begin with.
    var base: String { get }
    /// What follows the base, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    var path: String { get }
    /// A query that each request carries, `api_key=…` for example; percent-encoded already where it needs to be. Empty
    /// by default. Errors and logs leave it out, as they do with every query.
    var apiKey: String { get }
    /// Parameters of the query beside ``apiKey``. None by default.
    var query: [String: ParameterValue]? { get }
}

/// The other name of ``BaseRequest``.
public typealias Endpoint = BaseRequest

extension BaseRequest {
    /// No key.
    public var apiKey: String { "" }

    /// No parameters.
    public var query: [String: ParameterValue]? { nil }

    /// A GET of base and path, with the key, as it is written, and the query, whose names replace the key's.
    public var data: RequestData {
        let query = query ?? [:]
        let key = apiKey.utf8.split(separator: UInt8(ascii: "&")).filter { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return query[PercentEncoding.decoded(Substring(name)) ?? String(Substring(name))] == nil
        }
        return RequestData(path: path(with: key.map { String(Substring($0)) }), baseURL: base, query: query)
    }

    /// The path with a part of a query, before its fragment.
    private func path(with pairs: [String]) -> String {
        guard !pairs.isEmpty else { return path }
        let target = path.utf8.prefix { $0 != UInt8(ascii: "#") }
        let separator = target.contains(UInt8(ascii: "?")) ? "&" : "?"
        return String(Substring(target)) + separator + pairs.joined(separator: "&")
    }

    /// The parts of the URL; without any where base and path make none. Sending the request says then what is wrong.
    public var urlComponents: URLComponents {
        guard let url = try? data.transportRequest().url else { return URLComponents() }
        return URLComponents(string: url.absoluteString) ?? URLComponents()
    }
}
