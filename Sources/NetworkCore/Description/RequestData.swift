public import FoundationEssentials
public import HTTPTypes

/// A description of a request: its URL, method, parameters, content and header fields. Every other description is
/// converted to this one value (``RequestConvertible``).
///
/// With GET, HEAD and DELETE the ``parameters`` go into the query: an array repeats its name (`tags=a&tags=b`), an
/// object puts its keys in brackets (`nested[a]=1`), and `nil` is left out; other ``conventions`` can be chosen. With
/// every other method they become a JSON body with `Content-Type: application/json`, unless ``headerFields`` name
/// another type. If there is a ``content``, it is the body, and the parameters go into the query whatever the method.
///
/// Creating a value never fails. Sending it fails, before anything is sent, with an error that names the problem:
/// ``NetworkError/Code/invalidURL``, ``NetworkError/Code/invalidHeaderField``, ``NetworkError/Code/invalidParameters``,
/// ``NetworkError/Code/unreadableFile``.
public struct RequestData: Sendable, SafelyPrinted {
    /// The path below the base URL, by the rule of ``RequestURL/init(base:path:)``. The base is that of the request
    /// (``baseURL``), or else that of the client (``NetworkClient/baseURL``). Without either, this is the whole URL,
    /// such as `http://127.0.0.1:8080/test`; see ``RequestURL`` for what is accepted. A user and password before the
    /// host become Basic authentication for this origin, see
    /// ``TransportRequest/init(method:to:headerFields:body:options:)``.
    public var path: String
    /// The values of the names in braces in ``path``: of `users/{id}`, that of `id`. Each is one segment, or a part of
    /// one, whatever is in it (``RequestURL/segment(_:)``). The path as it is written names the request in metrics and
    /// traces (``TransportRequest/template``). A name without a value, a value without a name, and a value that is
    /// empty, `.` or `..` are ``NetworkError/Code/invalidParameters``. Default: none, and braces mean nothing.
    public var pathParameters: [String: any CustomStringConvertible & Sendable]
    /// The request's own base URL, which replaces the client's. With `nil`, the default, the client's applies.
    public var baseURL: String?
    var isWholeURL = false
    /// The HTTP method. CONNECT and TRACE are ``NetworkError/Code/unsupported``, and so is a body with HEAD.
    public var method: HTTPRequest.Method
    /// Parameters that go into the query with any method, before ``parameters`` and after a query that the URL has.
    public var query: [String: ParameterValue]?
    /// The parameters as typed values, for the query or a JSON body, depending on the method.
    public var parameters: [String: ParameterValue]?
    /// The content of the request. `nil` for none, or for ``parameters`` as JSON.
    public var content: RequestContent?
    /// Header fields to send in addition to those that the library adds (`Accept`, `User-Agent`, …). A field here
    /// replaces the library's field of the same name, except `Content-Length` and `Transfer-Encoding`, which follow
    /// from the body.
    public var headerFields: [String: String]
    /// The way lists, objects, booleans and dates are written: those of ``query`` and ``parameters``, and those of a
    /// ``content`` of parameters that has no conventions of its own.
    public var conventions = Conventions.standard
    /// The longest time without any transfer of bytes, in place of the client's ``TransportOptions/idleTimeout``. With
    /// `nil`, the default, the client's applies.
    public var idleTimeout: Duration?
    /// The longest wait for the server's 100 before the body goes out, in place of the client's
    /// ``TransportOptions/expectContinue``. With `nil`, the default, the client's applies.
    public var expectContinue: Duration?
    /// Receives each interim response before the final one; see ``TransportRequest/interimResponse``.
    public var interimResponse: (@Sendable (HTTPResponse) -> Void)?
    /// The reason why the request can't be sent, if it is known already. Sending the request throws it.
    package var refusal: (any Error)?

    /// Creates a request with literal parameters.
    /// - Parameters:
    ///   - path: The whole URL, or the path below a base URL.
    ///   - pathParameters: The values of the names in braces in the path. Default: none.
    ///   - baseURL: The URL that the path is appended to.
    ///   - method: The HTTP method. Default: GET.
    ///   - query: Parameters for the query, whatever the method.
    ///   - parameters: The parameters, for the query or a JSON body, depending on the method.
    ///   - content: The body.
    ///   - headerFields: The header fields. Two names that differ only in case are refused when the request is sent.
    public init(
        path: String,
        pathParameters: [String: any CustomStringConvertible & Sendable] = [:],
        baseURL: String? = nil,
        method: HTTPRequest.Method = .get,
        query: [String: ParameterValue]? = nil,
        parameters: [String: ParameterValue]? = nil,
        content: RequestContent? = nil,
        headerFields: [String: String] = [:]
    ) {
        self.path = path
        self.pathParameters = pathParameters
        self.baseURL = baseURL
        self.method = method
        self.query = query
        self.parameters = parameters
        self.content = content
        self.headerFields = headerFields
    }

    /// Creates a request for a whole URL, whatever base the client has.
    public init(
        url: String,
        method: HTTPRequest.Method = .get,
        query: [String: ParameterValue]? = nil,
        parameters: [String: ParameterValue]? = nil,
        content: RequestContent? = nil,
        headerFields: [String: String] = [:]
    ) {
        self.init(
            path: url, method: method, query: query, parameters: parameters, content: content,
            headerFields: headerFields)
        isWholeURL = true
    }

    /// Creates a request for Foundation's URL, whatever base the client has.
    public init(
        url: URL,
        method: HTTPRequest.Method = .get,
        query: [String: ParameterValue]? = nil,
        parameters: [String: ParameterValue]? = nil,
        content: RequestContent? = nil,
        headerFields: [String: String] = [:]
    ) {
        self.init(
            url: url.absoluteString, method: method, query: query, parameters: parameters, content: content,
            headerFields: headerFields)
    }

    /// Whether the client's base applies: the request has neither a base nor a whole URL of its own.
    var isBelowClientsBase: Bool { baseURL == nil && !isWholeURL }

    func based(on base: String?) -> RequestData {
        guard let base, isBelowClientsBase else { return self }
        var data = self
        data.baseURL = base
        return data
    }

    /// Creates a request with parameters of any type, such as variables: ``ParameterValue/init(_:)`` converts them. A
    /// parameter that can't be encoded fails the request when it is sent.
    @_disfavoredOverload
    public init(
        path: String,
        pathParameters: [String: any CustomStringConvertible & Sendable] = [:],
        baseURL: String? = nil,
        method: HTTPRequest.Method = .get,
        query: [String: Any?]? = nil,
        parameters: [String: Any?]? = nil,
        content: RequestContent? = nil,
        headerFields: [String: String] = [:]
    ) {
        self.init(
            path: path, pathParameters: pathParameters, baseURL: baseURL, method: method,
            query: query?.mapValues(ParameterValue.init),
            parameters: parameters?.mapValues(ParameterValue.init), content: content, headerFields: headerFields)
    }

    /// Creates a request for a whole URL with parameters of any type, whatever base the client has.
    @_disfavoredOverload
    public init(
        url: String,
        method: HTTPRequest.Method = .get,
        query: [String: Any?]? = nil,
        parameters: [String: Any?]? = nil,
        content: RequestContent? = nil,
        headerFields: [String: String] = [:]
    ) {
        self.init(
            path: url, method: method, query: query, parameters: parameters, content: content,
            headerFields: headerFields)
        isWholeURL = true
    }

    /// The method and URL, without users, passwords and queries.
    public var description: String {
        let redaction = Redaction()
        return "\(method.rawValue) " + (baseURL.map { redaction.url($0) + " + " } ?? "") + redaction.url(path)
    }
}

/// A type that describes a request. Every description is converted to one ``RequestData``.
public protocol RequestConvertible {
    /// The request as data.
    var data: RequestData { get }
}

extension RequestData: RequestConvertible {
    /// The request itself.
    public var data: RequestData { self }
}

/// A request with a known response type.
///
/// ```swift
/// struct User: Codable { let id: Int; let name: String }
///
/// struct GetUsers: RequestType {
///     typealias ResponseType = [User]
///     var data: RequestData { RequestData(path: "http://127.0.0.1:8080/users", parameters: ["page": 1]) }
/// }
///
/// let users = try await GetUsers().send().body
/// ```
public protocol RequestType: RequestConvertible {
    /// The type that the response's body is decoded to, with the client's decoder or else as JSON. It can be any
    /// `Codable` type whose conformance is not isolated to an actor, since decoding runs off the caller's actor.
    associatedtype ResponseType: Codable, SendableMetatype
}
