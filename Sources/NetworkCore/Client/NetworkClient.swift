public import FoundationEssentials
public import HTTPTypes
public import Logging

/// The pipeline over a transport: encode, intercept, send, validate, decode. It is a ``NetworkDispatcher`` too.
///
/// ```swift
/// let client = NetworkClient(transport: CurlNetworkDispatcher.instance)
/// let response = try await client.response(to: GetUsers())
/// print(response.status, response.headerFields, response.value)
/// ```
///
/// A value: a copy with another option is another pipeline over the same transport.
public struct NetworkClient: NetworkDispatcher {
    /// Who carries the exchanges.
    public let transport: any HTTPTransport
    /// Time, size and protocol of each exchange. The total timeout is the whole call's, over all of its exchanges,
    /// until its value is there: reading, decoding and writing the body count. A ``decoder`` can't be interrupted, so
    /// the time is looked at before and after it: a value that comes too late is ``NetworkError/Code/totalTimeout``.
    public var options: TransportOptions
    /// The steps around each call, the outermost first: retries, credentials, default header fields.
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
    public init(transport: any HTTPTransport, options: TransportOptions = TransportOptions(), logger: Logger? = nil) {
        self.transport = transport
        self.options = options
        self.logger = logger
    }

    /// The same pipeline with another validation, for one call.
    public func validating(_ validation: ResponseValidation) -> NetworkClient {
        var client = self
        client.validation = validation
        return client
    }

    /// The same pipeline with another decoder, for one call.
    public func decoding(by decoder: any ResponseDecoder) -> NetworkClient {
        var client = self
        client.decoder = decoder
        return client
    }

    /// The typed value of a request, with status and header fields.
    /// - Throws: ``NetworkError``: what ``validation`` refuses, ``NetworkError/Code/unacceptableStatus`` for example,
    ///   with the whole answer in ``NetworkError/response``; ``NetworkError/Code/decodingFailed`` when the body does
    ///   not fit the type; the transport's errors.
    public func response<Request: RequestType>(
        to request: Request
    ) async throws -> sending Response<Request.ResponseType> {
        try await response(to: request, as: Request.ResponseType.self)
    }

    /// The value of any decodable type, with status and header fields.
    /// - Throws: ``NetworkError`` as above.
    public func response<Value: Decodable & SendableMetatype>(
        to request: some RequestConvertible,
        as type: Value.Type
    ) async throws -> sending Response<Value> {
        let arrival = try await arrival(of: request)
        let answer = try await collected(arrival)
        do {
            // A decoder can't be interrupted.
            try arrival.call.check(while: .decoding)
            let value = try ResponseDecoding.decode(type, from: answer.value, of: answer.readableHead, by: decoder)
            try arrival.call.check(while: .decoding)
            return answer.replacing(value)
        } catch {
            throw arrival.refusing(answer, for: error)
        }
    }

    /// The bytes of a response, with status and header fields.
    /// - Throws: ``NetworkError`` as above, but for decoding.
    public func response(to request: some RequestConvertible) async throws -> Response<Data> {
        try await collected(try await arrival(of: request))
    }

    /// The answer to a request as soon as its head is there, whatever the status, with the body still on its way.
    /// - Throws: ``NetworkError``, the interceptors' errors.
    public func stream(_ request: some RequestConvertible) async throws -> Response<ResponseBody> {
        try await arrival(of: request).response
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
                onSuccess(try await data(for: request))
            } catch {
                onError(error)
            }
        }
    }

    /// The body of an accepted response.
    public func data(for request: RequestData) async throws -> Data { try await response(to: request).value }
}
