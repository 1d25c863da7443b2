/// Parameters as a query: sorted by name, arrays repeat their name, objects use brackets, `nil` is left out.
enum QueryEncoder {
    static func encode(_ parameters: [String: ParameterValue]) -> String {
        var pairs: [String] = []
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { append(value, name: name, to: &pairs) }
        return pairs.joined(separator: "&")
    }

    private static func append(_ value: ParameterValue, name: String, to pairs: inout [String]) {
        func pair(_ text: String) {
            pairs.append("\(PercentEncoding.component(name))=\(PercentEncoding.component(text))")
        }
        switch value {
        case .null, .unencodable: break
        case .bool(let value): pair(value ? "true" : "false")
        case .int(let value): pair(String(value))
        case .unsigned(let value): pair(String(value))
        case .double(let value): pair(String(value))
        case .string(let value): pair(value)
        case .array(let values): for value in values { append(value, name: name, to: &pairs) }
        case .object(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                append(value, name: "\(name)[\(key)]", to: &pairs)
            }
        }
    }
}
