public import FoundationEssentials
public import NetworkLayer

/// A request made of a base URL, a path, a method and a task, usually an enum with a case for each resource.
///
/// ```swift
/// enum MovieAPI: EndPointType {
///     case popular(page: Int)
///     case rate(id: Int, value: Double)
///
///     var baseURL: URL { URL(string: "http://127.0.0.1:8080/3/movie/")! }
///     var path: String {
///         switch self {
///         case .popular: "popular"
///         case .rate(let id, _): "\(id)/rating"
///         }
///     }
///     var httpMethod: HTTPMethod {
///         switch self {
///         case .popular: .get
///         case .rate: .post
///         }
///     }
///     var task: HTTPTask {
///         switch self {
///         case .popular(let page): .requestParameters(bodyParameters: nil, urlParameters: ["page": page])
///         case .rate(_, let value): .requestParameters(bodyParameters: ["value": value], urlParameters: nil)
///         }
///     }
///     var headers: HTTPHeaders? { nil }
/// }
/// ```
public protocol EndPointType: RequestConvertible {
    /// The scheme, the host, and the start of all paths.
    var baseURL: URL { get }
    /// The path below the base URL, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    var path: String { get }
    /// The HTTP method.
    var httpMethod: HTTPMethod { get }
    /// The parameters and header fields of the request.
    var task: HTTPTask { get }
    /// The header fields of the endpoint; those of the task replace them.
    var headers: HTTPHeaders? { get }
}

extension EndPointType {
    /// The request as data.
    public var data: RequestData {
        var data = RequestData(
            path: path, baseURL: baseURL.absoluteString, method: httpMethod, headerFields: headers ?? [:])
        task.apply(to: &data)
        return data
    }
}

/// Header fields by name.
public typealias HTTPHeaders = [String: String]

/// Parameters of any type, by name. A parameter that can't be encoded fails the request with
/// ``NetworkCore/NetworkError/Code/invalidParameters``, which names it.
public typealias Parameters = [String: Any]

/// The parameters and header fields of a request. Its cases are the tutorial's, and stay.
public enum HTTPTask: SafelyPrinted {
    /// No parameters.
    case request
    /// Parameters: those of the body become a JSON object, those of the URL go into the query. `nil` for none.
    case requestParameters(bodyParameters: Parameters?, urlParameters: Parameters?)
    /// Parameters, and header fields that replace the endpoint's fields of the same name.
    case requestParametersAndHeaders(
        bodyParameters: Parameters?,
        urlParameters: Parameters?,
        additionHeaders: HTTPHeaders?
    )

    /// The number of parameters of the body and of the URL.
    public var description: String {
        switch self {
        case .request: "nothing but the request"
        case .requestParameters(let body, let query):
            "\(body?.count ?? 0) parameters of the body, \(query?.count ?? 0) of the URL"
        case .requestParametersAndHeaders(let body, let query, let headers):
            "\(body?.count ?? 0) parameters of the body, \(query?.count ?? 0) of the URL, \(headers?.count ?? 0) fields"
        }
    }

    func apply(to data: inout RequestData) {
        switch self {
        case .request: break
        case .requestParameters(let body, let query): Self.set(body, query, in: &data)
        case .requestParametersAndHeaders(let body, let query, let headers):
            Self.set(body, query, in: &data)
            data.replaceHeaderFields(headers ?? [:])
        }
    }

    private static func set(_ body: Parameters?, _ query: Parameters?, in data: inout RequestData) {
        if let body { data.content = .json(parameters: body.mapValues(ParameterValue.init)) }
        data.query = query?.mapValues(ParameterValue.init)
    }
}

extension RequestData {
    /// Adds header fields, which replace those of the same name, in any case.
    mutating func replaceHeaderFields(_ added: [String: String]) {
        guard !added.isEmpty else { return }
        let names = Set(added.keys.map { $0.lowercased() })
        let kept = headerFields.filter { !names.contains($0.key.lowercased()) }
        headerFields = kept.merging(added) { _, new in new }
    }
}
