public import FoundationEssentials
public import FoundationNetworking
public import NetworkLayer

/// A request that is built step by step. The default is a GET without parameters.
///
/// ```swift
/// let users = URLRequestBuilder(with: base, path: "users")
///     .set(method: .get)
///     .set(parameters: .url(["page": 1]))
/// let page = try await users.send(as: [User].self, over: CurlNetworkDispatcher.instance).body
/// ```
///
/// Setting a value never fails. Sending the request may fail, and so may ``build()``, which returns a `URLRequest`.
public class URLRequestBuilder: RequestConvertible, SafelyPrinted {
    /// The scheme, the host, and the start of all paths.
    public var baseURL: URL
    /// The path below the base URL, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    public var path: String
    /// The HTTP method. Default: GET.
    public var method: HTTPMethod = .get
    /// The header fields. Numbers and booleans become text; a value of another type fails the request with
    /// ``NetworkCore/NetworkError/Code/invalidHeaderField``.
    public var headers: [String: Any]?
    /// The parameters, for the body or the query.
    public var parameters: RequestParams?

    /// Creates a builder for a path below a base URL.
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

    /// The request as built so far.
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

    /// The method and URL, without users, passwords and queries.
    public var description: String { "\(data)" }
}
