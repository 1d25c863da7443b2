import NetworkLayer

/// The parts of httpbin's echo responses that the tests check.
struct HttpbinEcho: Codable {
    /// The query; each value is a text, or a list if the name was repeated.
    var args: [String: OneOrMany]?
    var headers: [String: String]?
    /// The body as JSON.
    var json: Note?
    /// The body as text.
    var data: String?
    /// The fields of a form.
    var form: [String: OneOrMany]?
    /// The files of a form.
    var files: [String: String]?
    var method: String?
    var url: String?
    var gzipped: Bool?
    var deflated: Bool?

    /// The JSON that the tests send.
    struct Note: Codable, Equatable {
        var page: Int?
        var title: String?
        var tags: [String]?
        var nested: [String: [Bool]]?
    }

    enum OneOrMany: Codable, Equatable {
        case one(String)
        case many([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .one(text)
            } else {
                self = .many(try container.decode([String].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .one(let text): try container.encode(text)
            case .many(let texts): try container.encode(texts)
            }
        }
    }
}

/// A request whose response is an echo.
struct Ask: RequestType {
    typealias ResponseType = HttpbinEcho
    let data: RequestData
}
