public import NetworkLayer

extension HTTPTask: SafelyPrinted {
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
}

extension RequestParams: SafelyPrinted {
    /// The number of parameters, and whether they are of the body or of the URL.
    public var description: String {
        switch self {
        case .body(let parameters): "\(parameters?.count ?? 0) parameters of the body"
        case .url(let parameters): "\(parameters?.count ?? 0) parameters of the URL"
        }
    }
}

extension URLRequestBuilder: SafelyPrinted {
    /// The method and URL, without users, passwords and queries.
    public var description: String { "\(data)" }
}
