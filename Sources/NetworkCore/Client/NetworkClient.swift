public import FoundationEssentials
public import HTTPTypes
public import Logging

/// The pipeline over a transport: encode, intercept, send, validate, decode. It is a ``NetworkDispatcher`` too.
///
/// ```swift
/// var client = NetworkClient(transport: CurlNetworkDispatcher.instance, baseURL: "http://127.0.0.1:8080")
/// client.headerFields[.authorization] = "Bearer …"
/// let response = try await client.send(GetUsers())
/// print(response.status, response.headerFields, response.body)
/// ```
///
/// A value: a copy with another option is another pipeline over the same transport, see ``with(_:)``.
///
/// One rule says whose options count: a request that has none of its own (any ``RequestConvertible``) takes the
/// client's ``options``; a ``TransportRequest``, which is complete already, keeps its own. Another says who asks:
/// ``headerFields``.
public struct NetworkClient: NetworkDispatcher {
    /// The transport that carries the exchanges.
    public let transport: any HTTPTransport
    /// What a request's path is appended to, by the rule of ``RequestURL/init(base:path:)``, unless the request has a
    /// base or a whole URL of its own (``RequestData/init(url:method:query:params:content:headers:)``). `nil`, the
    /// default, makes of each path a whole URL.
    public var baseURL: String?
    /// Header fields for each request that does not have them; none by default.
    ///
    /// What a request says of who asks comes first, in whatever way it says it: its field `Authorization`, its own
    /// ``TransportOptions/authentication``, or else user and password of its own URL. What the client says of that
    /// counts where the request says nothing: `Authorization` here or ``TransportOptions/authentication`` in
    /// ``options``, which exclude one another, or else user and password of ``baseURL``.
    ///
    /// With a ``baseURL``, what is meant for one origin goes to the base's alone: secret fields (``SecretFields``,
    /// ``secretFields``), `Host` and `Referer`; of ``options`` the authentication, the client certificate and
    /// ``TransportOptions/TLS/serverName``. The same stays behind when a redirect leads to another origin
    /// (``RedirectPolicy``). Without a base it is for every request.
    public var headerFields: HTTPFields = [:]
    /// Time, size and protocol of each exchange. What of it is meant for one origin goes to that of ``baseURL`` alone,
    /// by the rule of ``headerFields``. The total timeout is the whole call's, over all of its exchanges,
    /// until its value is there: reading, decoding and writing the body count. A ``decoder`` can't be interrupted, so
    /// the time is looked at before and after it: a value that comes too late is ``NetworkError/Code/totalTimeout``.
    public var options: TransportOptions
    /// The steps around each call, the outermost first: retries, credentials, a log of calls.
    public var interceptors: [any Interceptor] = []
    /// The steps around each exchange of a call, the outermost first: each retry and each redirect goes through them.
    public var exchangeInterceptors: [any Interceptor] = []
    /// Which redirects are followed: all that the rules allow, by default.
    public var redirects = RedirectPolicy.standard
    /// Where cookies come from and go to. `nil`, the default, for neither.
    public var cookies: CookieJar?
    /// More header fields whose values are secret, besides ``SecretFields``, for each request of this client; see
    /// ``TransportOptions/secretFields``.
    public var secretFields: Set<HTTPField.Name> {
        get { options.secretFields }
        set { options.secretFields = newValue }
    }
    /// Which responses are taken for a success; 2xx unless another is given.
    public var validation = ResponseValidation.successful
    /// What makes values from bodies; JSON unless another is given.
    public var decoder: any ResponseDecoder = .json
    /// Where each exchange is noted, at debug level: method, URL without its query, status, time. `nil` for nowhere.
    public var logger: Logger?

    /// A pipeline over a transport.
    /// - Parameters:
    ///   - transport: The transport that carries the exchanges.
    ///   - baseURL: What a request's path is appended to.
    ///   - options: The options of each exchange.
    ///   - logger: Where each exchange is noted, at debug level.
    public init(
        transport: any HTTPTransport, baseURL: String? = nil, options: TransportOptions = TransportOptions(),
        logger: Logger? = nil
    ) {
        self.transport = transport
        self.baseURL = baseURL
        self.options = options
        self.logger = logger
    }

    /// The same pipeline with changes, for one call or for many.
    ///
    /// ```swift
    /// let user = try await client.with { $0.options.totalTimeout = .seconds(2) }.send(GetUser(id: 1)).body
    /// ```
    public func with(_ change: (inout NetworkClient) throws -> Void) rethrows -> NetworkClient {
        var client = self
        try change(&client)
        return client
    }

    /// Sends a request and returns its response in a form.
    /// - Parameters:
    ///   - request: Any description of a request.
    ///   - form: What becomes of the body: `.data`, `.text`, `.stream`, `.lines`, `.events`, `.file("…")`, …
    /// - Throws: ``NetworkError``: for a request that can't be sent, the transport's errors, and what the form throws,
    ///   ``NetworkError/Code/unacceptableStatus`` for example, with the response in ``NetworkError/response``. The
    ///   errors of interceptors and encoders of the program's own as they are.
    public func send<Body>(
        _ request: some RequestConvertible, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body> {
        try await form.receive(try prepared(request.data, for: form))
    }

    /// Sends a request that is complete already, with its own options, and returns its response in a form.
    public func send<Body>(
        _ request: TransportRequest, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body> {
        var request = request
        if form.isEndless { request.options.totalTimeout = nil }
        addDefaults(to: &request)
        request.addMissing(form.fields(self))
        let call = Call(totalTimeout: request.options.totalTimeout)
        return try await form.receive(PreparedCall(client: self, request: request, call: call))
    }

    // Apart, and not inlined, for an asynchronous function keeps its values in memory while it waits.
    @inline(never)
    private func prepared<Body>(_ data: RequestData, for form: ResponseForm<Body>) throws -> PreparedCall {
        var options = options
        if form.isEndless { options.totalTimeout = nil }
        // Encoding is a part of the call: it may take long, and can't be interrupted.
        let call = Call(totalTimeout: options.totalTimeout)
        var request = try request(of: data, options: options)
        request.addMissing(form.fields(self))
        do {
            try checkTime(for: request, in: call)
        } catch NetworkError.totalTimeout {
            throw NetworkError.totalTimeout(of: request, phase: .preparing)
                .during(request, transport: transport.name, elapsed: call.elapsed)
        }
        return PreparedCall(client: self, request: request, call: call)
    }

    // MARK: NetworkDispatcher

    /// Carries a request; `onSuccess` gets the body of an accepted response. The closures are called on no particular
    /// thread.
    public func dispatch(
        request: RequestData,
        onSuccess: @escaping @Sendable (Data) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        Task {
            do {
                onSuccess(try await send(request, as: .data).body)
            } catch {
                onError(error)
            }
        }
    }
}
