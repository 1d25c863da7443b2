/// An encoder of parameters as a query or a form: sorted by name, by the chosen conventions, without `nil`.
struct QueryEncoder {
    let conventions: RequestData.Conventions
    let limit: Limit
    var escape: (String) -> String = PercentEncoding.component

    /// The most bytes of the result, or a little more. Each value repeats the names above it, so that the result may be
    /// as long as the square of the parameters.
    struct Limit {
        let bytes: Int
        let error: NetworkError

        static let url = Limit(
            bytes: RequestURL.maximumBytes,
            error: .unusableURL(
                "its query has more than \(RequestURL.maximumBytes) bytes as it is sent, which is the limit on a URL"))
        static let form = Limit(
            bytes: 64 << 20,
            error: NetworkError.refused(.invalidParameters, "the form has more than 64 MiB as it is sent"))
    }

    func encode(_ parameters: [String: ParameterValue]) throws -> String {
        var text = ""
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            if let problem = value.firstProblem(at: name) { throw problem }
            try append(value, name: name, to: &text)
        }
        return text
    }

    private func append(_ value: ParameterValue, name: String, to text: inout String) throws {
        switch value {
        case .array(let values): try append(values, name: name, to: &text)
        case .object(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) where value != .null {
                guard name.utf8.count <= limit.bytes else { throw limit.error }
                let nested = conventions.objects == .dots ? "\(name).\(key)" : "\(name)[\(key)]"
                try append(value, name: nested, to: &text)
            }
        default: if let value = self.text(of: value) { try append("\(escape(name))=\(escape(value))", to: &text) }
        }
    }

    private func append(_ values: [ParameterValue], name: String, to text: inout String) throws {
        switch conventions.arrays {
        case .repeated: for value in values { try append(value, name: name, to: &text) }
        case .brackets: for value in values where value != .null { try append(value, name: "\(name)[]", to: &text) }
        case .indexed:
            for (index, value) in values.enumerated() where value != .null {
                try append(value, name: "\(name)[\(index)]", to: &text)
            }
        case .commas:
            let texts = try values.enumerated().compactMap { index, value in
                switch value {
                case .array, .object:
                    throw NetworkError.invalidParameter(
                        "\(name)[\(index)]",
                        "is a list or an object, which a list with commas can't hold"
                    )
                default: self.text(of: value).map(escape)
                }
            }
            if !texts.isEmpty { try append("\(escape(name))=\(texts.joined(separator: ","))", to: &text) }
        }
    }

    private func append(_ pair: String, to text: inout String) throws {
        text += (text.isEmpty ? "" : "&") + pair
        guard text.utf8.count <= limit.bytes else { throw limit.error }
    }

    /// Returns the text of a value that is neither a list nor an object; `nil` if it is left out.
    private func text(of value: ParameterValue) -> String? {
        switch value {
        case .null, .unencodable, .array, .object: nil
        case .bool(let value): conventions.booleans == .words ? (value ? "true" : "false") : (value ? "1" : "0")
        case .int(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value): String(value)
        case .decimal(let value): "\(value)"
        case .string(let value): value
        case .date(let date): text(of: conventions.dates.value(of: date))
        }
    }
}
