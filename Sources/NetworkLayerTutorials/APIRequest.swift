public import FoundationEssentials
public import NetworkLayer

/// A request with a resource type, a base URL and typed parameters.
///
/// ```swift
/// struct AddNote: APIRequest {
///     typealias Resource = Note
///     let text: String
///     var baseURL: URL { URL(string: "http://127.0.0.1:8080")! }
///     var path: String { "notes" }
///     var method: HTTPMethod { .post }
///     var parameters: RequestParams { .body(["text": text]) }
///     var headers: [String: Any]? { ["X-Retries": 2] }
/// }
///
/// let note = try await AddNote(text: "buy milk").send(over: CurlNetworkDispatcher.instance).body
/// ```
public protocol APIRequest: RequestConvertible {
    /// The type that the response's body is decoded to, with the client's decoder or else as JSON.
    associatedtype Resource: Decodable, SendableMetatype
    /// The scheme, the host, and the start of all paths.
    var baseURL: URL { get }
    /// The path below the base URL, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    var path: String { get }
    /// The HTTP method.
    var method: HTTPMethod { get }
    /// The parameters, for the body or the query.
    var parameters: RequestParams { get }
    /// The header fields. Numbers and booleans become text; a value of another type fails the request with
    /// ``NetworkCore/NetworkError/Code/invalidHeaderField``.
    var headers: [String: Any]? { get }
}

extension APIRequest {
    /// The request as data, made with ``URLRequestBuilder``.
    public var data: RequestData {
        URLRequestBuilder(with: baseURL, path: path)
            .set(method: method)
            .set(headers: headers)
            .set(parameters: parameters)
            .data
    }

    /// Sends the request and returns its response with the decoded resource.
    /// - Parameter dispatcher: The dispatcher that carries the request.
    /// - Throws: ``NetworkCore/NetworkError``, or the error of a dispatcher of your own.
    public func send(over dispatcher: any NetworkDispatcher) async throws -> sending NetworkResponse<Resource> {
        try await dispatcher.send(data, as: .decoded(Resource.self))
    }
}

extension APIRequest {
    /// Sends the request over the default transport and returns its response with the decoded resource.
    /// - Throws: ``NetworkCore/NetworkError``.
    public func send() async throws -> sending NetworkResponse<Resource> {
        try await send(over: DefaultTransport.shared)
    }
}

/// Parameters, for the body or the query. Its cases are the tutorial's, and stay.
public enum RequestParams: SafelyPrinted {
    /// The fields of a JSON body. `nil` for none.
    case body(_: [String: Any]?)
    /// The fields of the query. `nil` for none.
    case url(_: [String: Any]?)

    /// The number of parameters, and whether they are of the body or of the URL.
    public var description: String {
        switch self {
        case .body(let parameters): "\(parameters?.count ?? 0) parameters of the body"
        case .url(let parameters): "\(parameters?.count ?? 0) parameters of the URL"
        }
    }
}
