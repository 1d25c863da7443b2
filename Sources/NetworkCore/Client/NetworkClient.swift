public import FoundationEssentials
public import HTTPTypes

/// A pipeline over a transport: it encodes, intercepts, sends, validates and decodes. It is a ``NetworkDispatcher``
/// too.
///
/// ```swift
/// var client = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "http://127.0.0.1:8080")
/// client.headerFields[.authorization] = "Bearer …"
/// let response = try await client.send(GetUsers())
/// print(response.status, response.headerFields, response.body)
/// ```
///
/// A client is a value: a copy with another option is another pipeline over the same transport, see ``with(_:)``.
///
/// A request without options of its own (any ``RequestConvertible``) takes the client's ``options``; a
/// ``TransportRequest``, which is complete already, keeps its own. The rule for credentials is at ``headerFields``.
public struct NetworkClient: NetworkDispatcher, SafelyPrinted {
    /// The transport that carries the exchanges. A copy with another one is the same client over that transport.
    public var transport: any HTTPTransport
    /// The URL that a request's path is appended to, by the rule of ``RequestURL/init(base:path:)``, unless the request
    /// has a base or a whole URL of its own (`RequestData(url: "…")`). With
    /// `nil`, the default, each path must be a whole URL.
    public var baseURL: String?
    /// Header fields for each request that does not have them. Default: none.
    ///
    /// A request's own credentials come first, in whatever form: its field `Authorization`, its own
    /// ``TransportOptions/authentication``, or else the user and password in its own URL. The client's credentials
    /// apply to a request that has none: `Authorization` here or ``TransportOptions/authentication`` in ``options``,
    /// which exclude one another, or else the user and password in ``baseURL``.
    ///
    /// With a ``baseURL``, whatever is meant for one origin goes only to the origin of the base: secret fields
    /// (``SecretFields``, ``secretFields``), `Host` and `Referer`, and of ``options`` the authentication, the client
    /// certificate, ``TransportOptions/TLS/serverName`` and the Unix socket. A redirect to another origin leaves the
    /// same things behind (``RedirectPolicy``). Without a base they go with every request.
    public var headerFields: HTTPFields = [:]
    /// The timeouts, limits and protocol of each exchange. Options meant for one origin go only to the origin of
    /// ``baseURL``, by the rule of ``headerFields``. The total timeout covers the whole call, over all of its
    /// exchanges, until its value is made: reading, decoding and writing the body count. A ``decoder`` can't be
    /// interrupted, so the time is checked before and after it: a value that comes too late is
    /// ``NetworkError/Code/totalTimeout``.
    ///
    /// A ``TransportRequest`` has options of its own instead. Two of the client's hold for it all the same:
    /// ``TransportOptions/secretFields`` are added to its own, and ``TransportOptions/addressPolicy`` is its policy
    /// where it has none.
    public var options: TransportOptions
    /// The steps around each call, the outermost first: retries, credentials, a log of calls.
    public var interceptors: [any Interceptor] = []
    /// The steps around each exchange of a call, the outermost first. Each retry and each redirect goes through them.
    public var exchangeInterceptors: [any Interceptor] = []
    /// The redirects that are followed. Default: all that the rules allow.
    public var redirectPolicy = RedirectPolicy.standard
    /// The jar that supplies and stores cookies. With `nil`, the default, the client neither sends nor stores any.
    public var cookieJar: CookieJar?
    /// More header fields whose values are secret, in addition to ``SecretFields``, for each request of this client;
    /// see ``TransportOptions/secretFields``.
    public var secretFields: Set<HTTPField.Name> {
        get { options.secretFields }
        set { options.secretFields = newValue }
    }
    /// The responses that count as a success. Default: 2xx.
    public var validation = ResponseValidation.successful
    /// The decoder that makes values from bodies. Default: JSON.
    public var decoder: any ResponseDecoder = .json
    /// The encoder of values that requests carry as JSON, unless a request names its own. Default: sorted keys and the
    /// strategies of Foundation's `JSONEncoder`.
    public var encoder = JSONRequestEncoder.json

    /// Creates a pipeline over a transport.
    /// - Parameters:
    ///   - transport: The transport that carries the exchanges.
    ///   - baseURL: The URL that a request's path is appended to.
    ///   - options: The options of each exchange.
    public init(
        transport: any HTTPTransport, baseURL: String? = nil, options: TransportOptions = TransportOptions()
    ) {
        self.transport = transport
        self.baseURL = baseURL
        self.options = options
    }

    /// Returns the same pipeline with changes, for one call or for many.
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
    ///   - form: What the body becomes: `.data`, `.text`, `.stream`, `.lines`, `.events`, `.file("…")`, …
    /// - Throws: ``NetworkError``: for a request that can't be sent, the transport's errors, and the errors of the
    ///   form, such as ``NetworkError/Code/unacceptableStatus``, with the response in ``NetworkError/response``. The
    ///   errors of your own interceptors and encoders arrive unchanged. `CancellationError` in a cancelled task.
    public func send<Body>(
        _ request: some RequestConvertible, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body> {
        do {
            return try await form.receive(try prepared(request.data, for: form))
        } catch {
            throw NetworkError.thrown(error)
        }
    }

    /// Sends a complete request, with its own options (see ``options``), and returns its response in a form.
    /// - Throws: The errors of a described request.
    public func send<Body>(
        _ request: TransportRequest, as form: ResponseForm<Body>
    ) async throws -> sending NetworkResponse<Body> {
        var request = request
        if form.isEndless { request.options.totalTimeout = nil }
        let call = Call(totalTimeout: request.options.totalTimeout)
        do {
            try request.checkFieldCount()
            addDefaults(to: &request)
            request.addMissing(form.fields(self))
            return try await form.receive(PreparedCall(client: self, request: request, call: call))
        } catch {
            throw NetworkError.thrown(error)
        }
    }

    /// It is the nearest match for a description without a type, where the compiler would speak of `RequestType`.
    @available(*, unavailable, message: "say what the body becomes: 'as: .data', '.text', '.stream', …")
    public func send(_ request: TransportRequest) async throws -> sending NetworkResponse<Data> {
        try await send(request, as: .data)
    }

    // A separate function, not inlined: an asynchronous function keeps its values in memory while it waits.
    @inline(never)
    private func prepared<Body>(_ data: RequestData, for form: ResponseForm<Body>) throws -> PreparedCall {
        var options = options
        if form.isEndless { options.totalTimeout = nil }
        // Encoding counts as part of the call: it may take long, and can't be interrupted.
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

    /// Sends a request; `onSuccess` receives the body of an accepted response. The closures run on an unspecified
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

    /// The transport, and whether there is a base URL.
    public var description: String { "a client over \(transport.name)\(baseURL == nil ? "" : ", with a base URL")" }
}

extension NetworkClient: ReportsFigures {
    /// The figures of the client's steps, such as breakers and limits; not of its transport, which other clients share.
    public var figures: [Figure] {
        get async {
            var all: [Figure] = []
            for case let step as any ReportsFigures in interceptors + exchangeInterceptors {
                all += await step.figures
            }
            return all
        }
    }
}
