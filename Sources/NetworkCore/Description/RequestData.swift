public import HTTPTypes

/// What to ask: where, how, with which parameters, content and header fields. Every way to describe a request ends in
/// this one value (``RequestConvertible``).
///
/// With GET, HEAD and DELETE the ``parameters`` go into the query; an array repeats its name (`tags=a&tags=b`), an
/// object puts its keys in brackets (`nested[a]=1`), `nil` is left out; other ``conventions`` can be chosen. With every
/// other method they are a JSON body with `Content-Type: application/json`, unless ``headers`` name another. Where
/// there is a ``content``, that is the body, and the parameters go into the query whatever the method.
///
/// Making a value never fails. Sending it fails, before anything is sent, with an error that names the culprit:
/// ``NetworkError/Code/invalidURL``, ``NetworkError/Code/invalidHeader``, ``NetworkError/Code/invalidParameters``,
/// ``NetworkError/Code/unreadableFile``.
public struct RequestData: Sendable {
    /// What follows the base URL, by the rule of ``RequestURL/init(base:path:)``: that of the request
    /// (``baseURL``), or else that of the client (``NetworkClient/baseURL``). Where there is neither, the whole URL,
    /// `http://127.0.0.1:3000/test` for example; see ``RequestURL`` for what is accepted. User and password before the
    /// host become Basic authentication for this origin, see
    /// ``TransportRequest/init(method:to:headerFields:body:options:)``.
    public var path: String
    /// The request's own base URL, in place of the client's. `nil`, the default, leaves that.
    public var baseURL: String?
    /// Whether ``path`` is the whole URL, whatever base the client has.
    var isWholeURL = false
    /// How to ask.
    public var method: HTTPRequest.Method
    /// Parameters that go into the query with any method, before the other ones and after a query that the URL has.
    public var query: [String: ParameterValue]?
    /// The parameters as typed values.
    public var parameters: [String: ParameterValue]?
    /// What to send along. `nil` for none, or for ``parameters`` as JSON.
    public var content: RequestContent?
    /// Header fields to send, beside the ones that the library adds (`Accept`, `User-Agent`, …), which they replace.
    public var headers: [String: String]?
    /// How lists, objects, booleans and dates are written.
    public var conventions = Conventions.standard
    /// The longest time in which nothing moves, in place of the client's ``TransportOptions/idleTimeout``. `nil` leaves
    /// that one.
    public var idleTimeout: Duration?
    /// Why it can't be sent, where that is known already: sending throws it. For those who make requests of something
    /// else and can't throw.
    public var refusal: (any Error)?

    /// A request with literal parameters.
    /// - Parameters:
    ///   - path: The whole URL, or with a base what follows it.
    ///   - baseURL: What the path is appended to.
    ///   - method: GET unless said otherwise.
    ///   - query: Parameters for the query, whatever the method.
    ///   - params: The parameters, for the query or a JSON body as the method has it.
    ///   - content: The body.
    ///   - headers: Header fields. Two names that differ only in case are refused when the request is sent.
    public init(
        path: String,
        baseURL: String? = nil,
        method: HTTPRequest.Method = .get,
        query: [String: ParameterValue]? = nil,
        params: [String: ParameterValue]? = nil,
        content: RequestContent? = nil,
        headers: [String: String]? = nil
    ) {
        self.path = path
        self.baseURL = baseURL
        self.method = method
        self.query = query
        self.parameters = params
        self.content = content
        self.headers = headers
    }

    /// A request for a whole URL, whatever base the client has.
    public init(
        url: String,
        method: HTTPRequest.Method = .get,
        query: [String: ParameterValue]? = nil,
        params: [String: ParameterValue]? = nil,
        content: RequestContent? = nil,
        headers: [String: String]? = nil
    ) {
        self.init(path: url, method: method, query: query, params: params, content: content, headers: headers)
        isWholeURL = true
    }

    /// Whether it leaves its base to the client: it has neither a base nor a whole URL of its own.
    var isBelowClientsBase: Bool { baseURL == nil && !isWholeURL }

    /// The request below the client's base, unless it has a base or a whole URL of its own.
    func based(on base: String?) -> RequestData {
        guard let base, isBelowClientsBase else { return self }
        var data = self
        data.baseURL = base
        return data
    }

    /// A request with parameters of any type. What can't be encoded is reported when the request is sent.
    @_disfavoredOverload
    public init(
        path: String,
        method: HTTPRequest.Method = .get,
        params: [String: Any?]?,
        headers: [String: String]? = nil
    ) {
        self.init(path: path, method: method, params: params?.mapValues(ParameterValue.init), headers: headers)
    }

    /// The parameters as plain Swift values, for a dispatcher of your own: `JSONSerialization` takes them as they are.
    public var params: [String: (any Sendable)?]? { parameters?.mapValues(\.plainValue) }
}
