public import HTTPTypes

/// A request's method: `.get`, `.post`, `.put`, `.delete`, `.patch`, `.head`, `.options`, …
///
/// `rawValue` is its name. `HTTPMethod(rawValue:)` is `nil` for what is not a token (RFC 9110 §9.1), so a method with
/// spaces or line breaks can't exist. Methods are case-sensitive: `get` is not `GET`.
public typealias HTTPMethod = HTTPRequest.Method

/// What to ask: where, how, with which parameters and header fields.
///
/// With GET, HEAD and DELETE the parameters go into the query, sorted by name and after a query that the path has
/// already; an array repeats its name (`tags=a&tags=b`), an object puts its keys in brackets (`nested[a]=1`), and `nil`
/// is left out. With every other method they are a JSON body with `Content-Type: application/json`, unless ``headers``
/// name another.
///
/// Making a value never fails. Sending it fails, before anything is sent, with ``NetworkError/Code/invalidURL``,
/// ``NetworkError/Code/invalidHeader`` or ``NetworkError/Code/invalidParameters``.
public struct RequestData: Sendable, Hashable {
    /// The whole URL, `http://127.0.0.1:3000/test` for example; see ``RequestURL`` for what is accepted.
    public let path: String
    /// How to ask.
    public let method: HTTPMethod
    /// The parameters as typed values.
    public let parameters: [String: ParameterValue]?
    /// Header fields to send, beside the ones that the library adds (`Accept`, `User-Agent`, …), which they replace.
    public let headers: [String: String]?

    /// A request with literal parameters.
    /// - Parameters:
    ///   - path: The whole URL.
    ///   - method: GET unless said otherwise.
    ///   - params: The parameters.
    ///   - headers: Header fields. Two names that differ only in case are refused when the request is sent.
    public init(
        path: String,
        method: HTTPMethod = .get,
        params: [String: ParameterValue]? = nil,
        headers: [String: String]? = nil
    ) {
        self.path = path
        self.method = method
        self.parameters = params
        self.headers = headers
    }

    /// A request with parameters of any type. What can't be encoded is reported when the request is sent.
    @_disfavoredOverload
    public init(
        path: String,
        method: HTTPMethod = .get,
        params: [String: Any?]?,
        headers: [String: String]? = nil
    ) {
        self.init(path: path, method: method, params: params?.mapValues(ParameterValue.init), headers: headers)
    }

    /// The parameters as plain Swift values, for a dispatcher of your own: `JSONSerialization` takes them as they are.
    public var params: [String: (any Sendable)?]? { parameters?.mapValues(\.plainValue) }
}
