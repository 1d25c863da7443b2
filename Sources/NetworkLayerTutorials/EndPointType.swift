public import FoundationEssentials
public import NetworkLayer

/// A request as a base, a path, a method and a task: an enum with a case for each resource is the usual way.
///
/// ```swift
/// enum MovieAPI: EndPointType {
///     case popular(page: Int)
///     case rate(id: Int, value: Double)
///
///     var baseURL: URL { URL(string: "http://127.0.0.1:3000/3/movie/")! }
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
    /// Scheme, host, and what all paths begin with.
    var baseURL: URL { get }
    /// What follows the base, by the rule of ``NetworkCore/RequestURL/init(base:path:)``.
    var path: String { get }
    /// How to ask.
    var httpMethod: HTTPMethod { get }
    /// What to send along.
    var task: HTTPTask { get }
    /// Header fields of the endpoint; those of the task replace them.
    var headers: HTTPHeaders? { get }
}

extension EndPointType {
    /// All of it.
    public var data: RequestData {
        var data = RequestData(path: path, baseURL: baseURL.absoluteString, method: httpMethod, headers: headers)
        task.apply(to: &data)
        return data
    }
}

/// Header fields by name.
public typealias HTTPHeaders = [String: String]

/// Parameters of any kind, by name. Sending what can't be encoded fails with
/// ``NetworkCore/NetworkError/Code/invalidParameters``, which names the parameter.
public typealias Parameters = [String: Any]

/// What a request sends along.
public enum HTTPTask {
    /// Nothing.
    case request
    /// Parameters: those of the body as a JSON object, those of the URL in the query; `nil` for none.
    case requestParameters(bodyParameters: Parameters?, urlParameters: Parameters?)
    /// Parameters, and header fields that replace the endpoint's of the same name.
    case requestParametersAndHeaders(
        bodyParameters: Parameters?,
        urlParameters: Parameters?,
        additionHeaders: HTTPHeaders?
    )

    func apply(to data: inout RequestData) {
        switch self {
        case .request: break
        case .requestParameters(let body, let query): Self.set(body, query, in: &data)
        case .requestParametersAndHeaders(let body, let query, let headers):
            Self.set(body, query, in: &data)
            data.replaceHeaders(headers ?? [:])
        }
    }

    private static func set(_ body: Parameters?, _ query: Parameters?, in data: inout RequestData) {
        if let body { data.content = .json(parameters: body.mapValues(ParameterValue.init)) }
        data.query = query?.mapValues(ParameterValue.init)
    }
}

extension RequestData {
    /// Adds header fields in place of those with the same name, in any case.
    mutating func replaceHeaders(_ added: [String: String]) {
        guard !added.isEmpty else { return }
        let names = Set(added.keys.map { $0.lowercased() })
        let kept = (headers ?? [:]).filter { !names.contains($0.key.lowercased()) }
        headers = kept.merging(added) { _, new in new }
    }
}
