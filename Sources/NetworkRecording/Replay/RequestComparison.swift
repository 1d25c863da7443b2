import FoundationEssentials
import NetworkCore

/// What is compared of two requests.
enum RequestComparison {
    /// Returns the method and the URL in the form in which it would be sent.
    static func key(of request: Recording.Request) -> String {
        "\(request.method.rawValue) \((try? RequestURL(request.url))?.absoluteString ?? request.url)"
    }

    /// What is compared of a request besides its key: a recording has one for each entry, so it holds no body.
    struct Form: Hashable, Sendable {
        /// The values of the fields that the caller set, by their lowercase names.
        let fields: [String: [String]]
        private let body: [UInt8]
        private let omitted: Int

        init(of request: Recording.Request) {
            fields = comparable(request.headerFields)
            let content = RequestComparison.body(of: request)
            (body, omitted) = (SHA256Checksum.digest(content.bytes), content.omitted)
        }
    }

    /// Returns the first part in which two requests with the same key differ, or `nil` if they are the same.
    static func difference(_ first: Recording.Request, _ second: Recording.Request) -> String? {
        let (form, other) = (Form(of: first), Form(of: second))
        let names = Set(form.fields.keys).union(other.fields.keys).sorted()
        if let name = names.first(where: { form.fields[$0] != other.fields[$0] }) {
            return "another field \(Redaction.token(name))"
        }
        return form == other ? nil : "another body"
    }

    /// Returns the values of the fields that the caller set, by their lowercase names.
    private static func comparable(_ fields: HTTPFields) -> [String: [String]] {
        var values: [String: [String]] = [:]
        for field in fields where !generated.contains(field.name.canonicalName) {
            if field == .acceptAnything { continue }
            let isMultipart = field.name == .contentType && boundary(in: field.value) != nil
            let value = isMultipart ? MediaType(field.value)?.essence ?? field.value : field.value
            values[field.name.canonicalName, default: []].append(value)
        }
        return values
    }

    /// The fields that a library, a browser or a proxy generates, and `Cookie`: a recording has no values of cookies.
    private static let generated: Set<String> = [
        "accept-encoding", "accept-language", "cache-control", "connection", "content-encoding", "content-length",
        "cookie", "date", "expect", "host", "idempotency-key", "keep-alive", "origin", "pragma", "priority",
        "proxy-connection",
        "te", "traceparent", "tracestate", "transfer-encoding", "user-agent", "x-amz-content-sha256", "x-amz-date",
        "x-correlation-id", "x-request-id",
    ]

    /// Returns the body with a fixed boundary. A body without bytes is the same as none.
    private static func body(of request: Recording.Request) -> Recording.Body {
        guard let body = request.body else { return Recording.Body() }
        guard let boundary = request.headerFields[.contentType].flatMap(boundary), !boundary.isEmpty else {
            return body
        }
        let pieces = [UInt8](body.bytes).split(separator: Array("--\(boundary)".utf8), omittingEmptySubsequences: false)
        return Recording.Body(Data(pieces.joined(separator: "--".utf8)), omitted: body.omitted)
    }

    /// Returns the boundary of a multipart body, or `nil` for another type and for a boundary that is too long.
    private static func boundary(in type: String) -> String? {
        guard let type = MediaType(type), type.type == "multipart", let boundary = type.parameters["boundary"],
            // Each byte of the body may be compared with all of it.
            boundary.utf8.count <= maximumBoundary
        else { return nil }
        return boundary
    }

    /// The most bytes of a boundary (RFC 2046 §5.1.1).
    private static let maximumBoundary = 70
}
