public import HTTPTypes

/// Which responses are taken for a success: by status, by content type, by a rule of your own, or by several.
///
/// ```swift
/// client.validation = .successful.and(.contentTypes("application/json", "*/*+json"))
/// let page = try await client.validating(.statuses(200...299, 404...404)).text(of: request)
/// ```
///
/// It looks at the head alone, so that it holds for streamed bodies too. What it refuses is an error that carries the
/// answer (``NetworkError/response``); the first rule that refuses counts.
public struct ResponseValidation: Sendable {
    private let rules: [@Sendable (HTTPResponse) throws -> Void]

    private init(_ rules: [@Sendable (HTTPResponse) throws -> Void]) { self.rules = rules }

    /// Takes everything.
    public static let any = ResponseValidation([])

    /// Takes 2xx; what a ``NetworkClient`` starts with. Refuses with ``NetworkError/Code/unacceptableStatus``.
    public static let successful = ResponseValidation([
        { head in
            guard head.status.kind == .successful else { throw NetworkError.unacceptableStatus(head, "2xx was") }
        }
    ])

    /// Takes the statuses in some ranges. Refuses with ``NetworkError/Code/unacceptableStatus``.
    public static func statuses(_ ranges: ClosedRange<Int>...) -> ResponseValidation {
        ResponseValidation([
            { head in
                guard !ranges.contains(where: { $0.contains(head.status.code) }) else { return }
                let names = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
                throw NetworkError.unacceptableStatus(head, names.joined(separator: " or ") + " was")
            }
        ])
    }

    /// Takes the content types that a pattern covers: `application/json`, `text/*`, `*/*+json` for a suffix. Parameters
    /// such as `charset` are not looked at.
    ///
    /// A response without content has no type, and passes: 204, 205, 304, and `Content-Length: 0`. Any other without a
    /// Content-Type is refused. Refuses with ``NetworkError/Code/unacceptableContentType``.
    public static func contentTypes(_ patterns: String...) -> ResponseValidation {
        ResponseValidation([
            { head in
                if [204, 205, 304].contains(head.status.code) || head.headerFields[.contentLength] == "0" { return }
                let type = head.headerFields[.contentType].flatMap { MediaType($0) }
                if let type, patterns.contains(where: { type.matches($0) }) { return }
                throw NetworkError(
                    .unacceptableContentType,
                    "the content type is \(type?.essence ?? "not given"), and "
                        + "\(patterns.joined(separator: " or ")) was expected",
                    phase: .decoding
                )
            }
        ])
    }

    /// A rule of your own.
    /// - Parameter check: Throws to refuse. A ``NetworkError`` gets the answer and the exchange attached; any other
    ///   error reaches the caller as it is.
    public static func custom(_ check: @escaping @Sendable (HTTPResponse) throws -> Void) -> ResponseValidation {
        ResponseValidation([check])
    }

    /// This, and then another: both must take the response.
    public func and(_ other: ResponseValidation) -> ResponseValidation { ResponseValidation(rules + other.rules) }

    /// - Throws: What the first rule that refuses throws.
    public func check(_ head: HTTPResponse) throws {
        for rule in rules { try rule(head) }
    }
}

extension NetworkError {
    fileprivate static func unacceptableStatus(_ head: HTTPResponse, _ expectation: String) -> NetworkError {
        NetworkError(
            .unacceptableStatus,
            "the server answered \(head.status.code), and \(expectation) expected",
            phase: .decoding
        )
    }
}
