public import FoundationEssentials
public import NetworkLayer

/// Puts a request together step by step. GET without parameters unless told otherwise.
///
/// ```swift
/// let users = URLRequestBuilder(with: base, path: "users")
///     .set(method: .get)
///     .set(parameters: .url(["page": 1]))
/// let page = try await users.send(as: [User].self, over: CurlNetworkDispatcher.instance).body
/// ```
///
/// Nothing fails here; sending does, and so does `build()`, which makes a `URLRequest` of it (in the module
/// `NetworkLayer`).
public class URLRequestBuilder: RequestConvertible {
    /// Scheme, host, and what all paths begin with.
    public var baseURL: URL
    /// What follows the base, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    public var path: String
    /// How to ask.
    public var method: HTTPMethod = .get
    /// Header fields. Numbers and booleans become text.
    public var headers: [String: Any]?
    /// The parameters, and where they go.
    public var parameters: RequestParams?

    /// A request for a path below a base.
    public init(with baseURL: URL, path: String) {
        self.baseURL = baseURL
        self.path = path
    }

    /// Sets the method.
    @discardableResult
    public func set(method: HTTPMethod) -> Self {
        self.method = method
        return self
    }

    /// Sets the path.
    @discardableResult
    public func set(path: String) -> Self {
        self.path = path
        return self
    }

    /// Sets all header fields.
    @discardableResult
    public func set(headers: [String: Any]?) -> Self {
        self.headers = headers
        return self
    }

    /// Sets the parameters.
    @discardableResult
    public func set(parameters: RequestParams?) -> Self {
        self.parameters = parameters
        return self
    }

    /// What was put together so far.
    public var data: RequestData {
        var data = RequestData(path: path, baseURL: baseURL.absoluteString, method: method)
        data.setHeaders(headers)
        switch parameters {
        case .body(let values?): data.content = .json(parameters: values.mapValues(ParameterValue.init))
        case .url(let values?): data.query = values.mapValues(ParameterValue.init)
        case .body(nil), .url(nil), nil: break
        }
        return data
    }
}
