import FoundationEssentials
import HTTPTypes

// Descriptions of a request and its parts show what they are and how large, never their content.

extension RequestData: SafelyPrinted {
    /// The method and URL, without users, passwords and queries.
    public var description: String {
        let redaction = Redaction()
        return "\(method.rawValue) " + (baseURL.map { redaction.url($0) + " + " } ?? "") + redaction.url(path)
    }
}

extension TransportRequest: SafelyPrinted {
    /// The method, the URL without its query, the number of header fields, and the length of a body.
    public var description: String {
        "\(method.rawValue) \(url), \(headerFields.count) header fields" + (body.map { ", \($0)" } ?? "")
    }
}

extension RequestURL: SafelyPrinted {}

extension TransportRequest.Body: SafelyPrinted {
    /// The length of the body.
    public var description: String {
        length.map { "a body of \($0) bytes" } ?? "a body of unknown length"
    }
}

extension BodyProducer: SafelyPrinted {
    /// The length of the body that it produces.
    package var description: String { "a producer of \(length.map { "\($0)" } ?? "an unknown number of") bytes" }
}

extension RequestContent: SafelyPrinted {
    /// A fixed text, since the encoder holds the content.
    public var description: String { "content to be encoded" }
}

extension RequestContent.Encoded: SafelyPrinted {
    /// The length of the body.
    public var description: String { "\(body)" }
}

extension MultipartPart: SafelyPrinted {
    /// Whether it is a file. Names come from users as often as values do.
    public var description: String { fileName == nil ? "a field of a form" : "a file of a form" }
}

extension NetworkClient: SafelyPrinted {
    /// The transport, and whether there is a base URL.
    public var description: String { "a client over \(transport.name)\(baseURL == nil ? "" : ", with a base URL")" }
}

extension ResponseForm: SafelyPrinted {
    /// The type of the body.
    public var description: String { "a response's body as \(Body.self)" }
}
