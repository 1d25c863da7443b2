public import HTTPTypes

/// The rule for which responses count as a success: by status, by content type, by a rule of your own, or by several.
///
/// ```swift
/// client.validation = .successful.and(.contentTypes("application/json", "*/*+json"))
/// let page = try await client.with { $0.validation = .statuses(200...299, 404...404) }.send(request, as: .text)
/// ```
///
/// Validation uses the head only, so that it works for streamed bodies too. A rejected response becomes an error that
/// carries it (``NetworkError/response``); the first rule that rejects it determines the error.
public struct ResponseValidation: Sendable {
    private enum Rule: Sendable {
        case success
        /// Many heads are read only for their status.
        case status(@Sendable (HTTPResponse.Status) throws -> Void)
        case head(@Sendable (HTTPResponse) throws -> Void)
    }

    private let rules: [Rule]

    private init(_ rules: [Rule]) { self.rules = rules }

    /// Accepts every response.
    public static let any = ResponseValidation([])

    /// Accepts 2xx, the default of a ``NetworkClient``. Rejects with ``NetworkError/Code/unacceptableStatus``. A client
    /// also rejects a 206 for a request without `Range`, whose body is a part of what was asked for, and one with
    /// another part than the request's ([RFC 9110 §15.3.7](https://www.rfc-editor.org/rfc/rfc9110#section-15.3.7)).
    public static let successful = ResponseValidation([.success])

    /// Accepts the statuses in the ranges. Rejects with ``NetworkError/Code/unacceptableStatus``.
    public static func statuses(_ ranges: ClosedRange<Int>...) -> ResponseValidation {
        ResponseValidation([
            .status { status in
                guard !ranges.contains(where: { $0.contains(status.code) }) else { return }
                // Not with `count`, which overflows for a large range.
                let names = ranges.map { range in
                    range.lowerBound == range.upperBound
                        ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
                }
                throw NetworkError.refusedStatus(status, names.joined(separator: " or ") + " was")
            }
        ])
    }

    /// Accepts the content types that match a pattern: `application/json`, `text/*`, `*/*+json` for a suffix.
    /// Parameters such as `charset` are ignored, those of a pattern too.
    ///
    /// A response without content has no type, and passes: 204, 205, 304, and `Content-Length: 0` without a transfer
    /// coding. Any other response without a Content-Type is rejected. Rejects with
    /// ``NetworkError/Code/unacceptableContentType``.
    public static func contentTypes(_ patterns: String...) -> ResponseValidation {
        ResponseValidation([
            .head { head in
                let fields = head.headerFields
                let isEmpty = fields[.contentLength] == "0" && !fields.contains(.transferEncoding)
                if isEmpty || [204, 205, 304].contains(head.status.code) { return }
                let type = head.headerFields[.contentType].flatMap { MediaType($0) }
                if let type, patterns.contains(where: { type.matches($0) }) { return }
                throw NetworkError(
                    .unacceptableContentType,
                    "the content type is \(type.map { MediaType.shown($0.essence) } ?? "not given"), and "
                        + "\(patterns.joined(separator: " or ")) was expected",
                    phase: .decoding
                )
            }
        ])
    }

    /// Accepts the responses that a rule of your own accepts.
    /// - Parameter check: Throws to reject a response. A ``NetworkError`` gets the response and the exchange attached;
    ///   any other error reaches the caller unchanged.
    public static func custom(_ check: @escaping @Sendable (HTTPResponse) throws -> Void) -> ResponseValidation {
        ResponseValidation([.head(check)])
    }

    /// Returns a validation with the rules of both: both must accept the response.
    public func and(_ other: ResponseValidation) -> ResponseValidation { ResponseValidation(rules + other.rules) }

    /// Checks a head against the rules.
    /// - Throws: The error of the first rule that rejects it.
    public func check(_ head: HTTPResponse) throws { try check(ReadableHead(head), of: nil) }

    /// Checks a head that is parsed only if a rule needs it.
    func check(_ head: ReadableHead, of request: @autoclosure () -> TransportRequest?) throws {
        for rule in rules {
            switch rule {
            case .success:
                guard head.status.kind == .successful else { throw NetworkError.refusedStatus(head.status, "2xx was") }
                guard head.status == .partialContent, let request = request(), !request.asked(forPartIn: head.head)
                else { continue }
                let part = request.headerFields[.range].map { "the part \(Redaction.visible($0)) was" }
                throw NetworkError.refusedStatus(head.status, part ?? "the whole was")
            case .status(let check): try check(head.status)
            case .head(let check): try check(head.head)
            }
        }
    }
}

extension NetworkError {
    static func refusedStatus(_ status: HTTPResponse.Status, _ expectation: String) -> NetworkError {
        NetworkError(
            .unacceptableStatus,
            "the server responded with \(status.code), and \(expectation) expected",
            phase: .decoding
        )
    }
}
