public import FoundationEssentials
public import NetworkLayer

/// A request that knows its resource, its base and where its parameters go.
///
/// ```swift
/// struct AddNote: APIRequest {
///     typealias Resource = Note
///     let text: String
///     var baseURL: URL { URL(string: "http://127.0.0.1:3000")! }
///     var path: String { "notes" }
///     var method: HTTPMethod { .post }
///     var parameters: RequestParams { .body(["text": text]) }
///     var headers: [String: Any]? { ["X-Retries": 2] }
/// }
///
/// let note = try await AddNote(text: "buy milk").send(over: CurlNetworkDispatcher.instance).body
/// ```
public protocol APIRequest: RequestConvertible {
    /// What the response's body is decoded to, as JSON.
    associatedtype Resource: Decodable, SendableMetatype
    /// Scheme, host, and what all paths begin with.
    var baseURL: URL { get }
    /// What follows the base, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    var path: String { get }
    /// How to ask.
    var method: HTTPMethod { get }
    /// The parameters, and where they go.
    var parameters: RequestParams { get }
    /// Header fields. Numbers and booleans become text; a value of another type fails the request with
    /// ``NetworkCore/NetworkError/Code/invalidHeader``.
    var headers: [String: Any]? { get }
}

extension APIRequest {
    /// All of it, by way of ``URLRequestBuilder``.
    public var data: RequestData {
        URLRequestBuilder(with: baseURL, path: path)
            .set(method: method)
            .set(headers: headers)
            .set(parameters: parameters)
            .data
    }

    /// Sends the request and returns its response with the decoded resource.
    /// - Parameter dispatcher: What carries the request.
    /// - Throws: ``NetworkCore/NetworkError``, or what a dispatcher of the program's own reports.
    public func send(over dispatcher: any NetworkDispatcher) async throws -> sending NetworkResponse<Resource> {
        try await dispatcher.send(data, as: .decoded(Resource.self))
    }
}

extension APIRequest {
    /// Sends the request over the default transport and returns its response with the decoded resource.
    /// - Throws: ``NetworkCore/NetworkError``.
    public func send() async throws -> sending NetworkResponse<Resource> {
        try await send(over: DefaultTransport.instance)
    }
}

/// Parameters, and where they go.
public enum RequestParams {
    /// A JSON body. `nil` for none.
    case body(_: [String: Any]?)
    /// The query. `nil` for none.
    case url(_: [String: Any]?)
}
