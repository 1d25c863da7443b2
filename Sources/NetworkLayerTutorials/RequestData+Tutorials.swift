public import NetworkLayer

extension RequestData {
    /// Creates a request with the tutorials' labels.
    /// - Parameters:
    ///   - path: The whole URL, or the path below a client's base URL.
    ///   - method: The HTTP method. Default: GET.
    ///   - params: `RequestData.parameters`.
    ///   - headers: `RequestData.headerFields`.
    @_disfavoredOverload
    public init(
        path: String, method: HTTPMethod = .get, params: [String: Any?]? = nil, headers: [String: String]? = nil
    ) {
        self.init(path: path, method: method, parameters: params, headerFields: headers ?? [:])
    }

    /// The parameters as plain Swift values, for a dispatcher of your own; `JSONSerialization` accepts them unchanged.
    public var params: [String: (any Sendable)?]? { parameters?.mapValues(\.plainValue) }

    /// The header fields, for a dispatcher of your own; `nil` without any.
    public var headers: [String: String]? { headerFields.isEmpty ? nil : headerFields }
}

extension RequestData {
    /// Sets header fields from values of any type. Texts stay unchanged, numbers and booleans become text, and `nil` is
    /// left out. Any other value refuses the request with an error that names the field.
    mutating func setHeaders(_ headers: [String: Any]?) {
        guard let headers else { return }
        var fields: [String: String] = [:]
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            switch ParameterValue(value) {
            case .null: break
            case .string(let text): fields[name] = text
            case .int(let number): fields[name] = String(number)
            case .unsigned(let number): fields[name] = String(number)
            case .double(let number): fields[name] = String(number)
            case .decimal(let number): fields[name] = "\(number)"
            case .bool(let flag): fields[name] = flag ? "true" : "false"
            case .date, .array, .object, .unencodable:
                refusal = NetworkError(
                    .invalidHeaderField,
                    "the header field '\(Redaction.token(name))' is a \(type(of: value)); a text or a number is "
                        + "expected",
                    phase: .preparing
                )
            }
        }
        headerFields = fields
    }
}
