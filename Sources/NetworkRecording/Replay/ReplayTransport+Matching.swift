extension ReplayTransport {
    /// The rule by which a request is the one that was recorded. Secrets are left out of both first, by the same rule.
    public struct Matching: Sendable {
        enum Kind: Sendable {
            case methodAndURL
            case strict
            case rule(String, @Sendable (Recording.Request, Recording.Entry) -> Bool)
        }

        let kind: Kind

        /// Whether the fields and the body count.
        var isStrict: Bool { if case .strict = kind { true } else { false } }

        /// The method and the URL with its query are the same.
        public static let methodAndURL = Matching(kind: .methodAndURL)

        /// The method, the URL, the body and the header fields are the same, except for fields that the library or the
        /// transport generates: `User-Agent`, `Accept-Encoding`, `Host`, `Content-Length` and similar ones, dates,
        /// identifiers of traces and `Idempotency-Key`. The boundary of a multipart body may differ.
        public static let strict = Matching(kind: .strict)

        /// A rule of your own.
        /// - Parameters:
        ///   - name: The name of the rule in failure messages.
        ///   - matches: Returns whether an entry is the record of a request. The request is without its secrets, as
        ///     entries are.
        public static func rule(
            _ name: String,
            _ matches: @escaping @Sendable (_ request: Recording.Request, _ entry: Recording.Entry) -> Bool
        ) -> Matching {
            Matching(kind: .rule(name, matches))
        }
    }

    /// When a recorded response arrives.
    @nonexhaustive
    public enum Timing: Sendable, Hashable {
        /// At once.
        case none
        /// At the recorded times of the head, of each chunk and of a failure, on the transport's clock.
        case recorded
    }
}

/// The problems that ``ReplayTransport/checkAllUsed()`` found.
public struct ReplayFailure: Error, Sendable, CustomStringConvertible {
    /// One sentence for each request without an entry and for each entry that was not given, without queries.
    public let problems: [String]

    /// The problems, one on each line.
    public var description: String { problems.joined(separator: "\n") }
}
