public import HTTPTypes

/// Which responses are taken for a success: by status, by content type, by a rule of your own, or by several.
///
/// ```swift
/// client.validation = .successful.and(.contentTypes("application/json", "*/*+json"))
/// let page = try await client.with { $0.validation = .statuses(200...299, 404...404) }.send(request, as: .text)
/// ```
///
/// It looks at the head alone, so that it holds for streamed bodies too. What it refuses is an error that carries the
/// answer (``NetworkError/response``); the first rule that refuses counts.
public struct ResponseValidation: Sendable {
    private enum Rule: Sendable {
        /// Many heads are read by nobody but for their status.
        case status(@Sendable (HTTPResponse.Status) throws -> Void)
        case head(@Sendable (HTTPResponse) throws -> Void)
    }

    private let rules: [Rule]

    private init(_ rules: [Rule]) { self.rules = rules }

    /// Takes everything.
    public static let any = ResponseValidation([])

    /// Takes 2xx; what a ``NetworkClient`` starts with. Refuses with ``NetworkError/Code/unacceptableStatus``.
    public static let successful = ResponseValidation([
        .status { status in
            guard status.kind == .successful else { throw NetworkError.unacceptableStatus(status, "2xx was") }
        }
    ])

    /// Takes the statuses in some ranges. Refuses with ``NetworkError/Code/unacceptableStatus``.
    public static func statuses(_ ranges: ClosedRange<Int>...) -> ResponseValidation {
        ResponseValidation([
            .status { status in
                guard !ranges.contains(where: { $0.contains(status.code) }) else { return }
                // Not by `count`, which a range may have too much of.
                let names = ranges.map { range in
                    range.lowerBound == range.upperBound
                        ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
                }
                throw NetworkError.unacceptableStatus(status, names.joined(separator: " or ") + " was")
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
            .head { head in
                if [204, 205, 304].contains(head.status.code) || head.headerFields[.contentLength] == "0" { return }
                let type = head.headerFields[.contentType].flatMap { MediaType($0) }
                if let type, patterns.contains(where: { type.matches($0) }) { return }
                throw NetworkError(
                    .unacceptableContentType,
                    "the content type is \(type.map { Redaction.visible($0.essence, limit: 64) } ?? "not given"), and "
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
        ResponseValidation([.head(check)])
    }

    /// This, and then another: both must take the response.
    public func and(_ other: ResponseValidation) -> ResponseValidation { ResponseValidation(rules + other.rules) }

    /// - Throws: What the first rule that refuses throws.
    public func check(_ head: HTTPResponse) throws {
        for rule in rules {
            switch rule {
            case .status(let check): try check(head.status)
            case .head(let check): try check(head)
            }
        }
    }

    /// The same of a head that is read only if a rule asks for it.
    func check(_ response: TransportResponse) throws {
        for rule in rules {
            switch rule {
            case .status(let check): try check(response.status)
            case .head(let check): try check(response.head)
            }
        }
    }
}

extension NetworkError {
    fileprivate static func unacceptableStatus(_ status: HTTPResponse.Status, _ expectation: String) -> NetworkError {
        NetworkError(
            .unacceptableStatus,
            "the server answered \(status.code), and \(expectation) expected",
            phase: .decoding
        )
    }
}
