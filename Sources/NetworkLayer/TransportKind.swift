/// The included transports, with the names that configurations use.
@nonexhaustive
public enum TransportKind: String, Sendable, Hashable, CaseIterable {
    /// The system's libcurl: ``CurlTransport/CurlNetworkDispatcher``.
    case curl
    /// Foundation's URLSession: ``URLSessionTransport/URLSessionNetworkDispatcher``.
    case urlsession

    /// The environment variable that selects the default transport: `curl` or `urlsession`, or a shadow or a
    /// canary (``NetworkRollout/Rollout``).
    public static let variable = "NETWORK_TRANSPORT"

    /// The transport if the variable is unset: curl.
    public static var standard: TransportKind {
        .curl
    }

    /// Creates a transport kind from its name.
    /// - Parameters:
    ///   - name: `curl` or `urlsession`, in lower case.
    ///   - source: Where the name comes from, for the error: a variable, an option.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration``, which names the source, the value and the
    ///   choices.
    public init(name: String, from source: String) throws {
        guard let kind = TransportKind(rawValue: name) else {
            throw NetworkError(
                .invalidConfiguration,
                "\(source) is '\(Self.shown(name))'; it must be \(Self.choices)",
                phase: .preparing
            )
        }
        self = kind
    }

    /// The names in words.
    package static let choices = allCases.map { "'\($0.rawValue)'" }.joined(separator: " or ")

    /// Returns the start of a value that is none, printable.
    package static func shown(_ text: String) -> String {
        text.unicodeScalars.prefix(64).map { $0.escaped(asASCII: true) }.joined()
    }

    /// The shared transport of this kind.
    public var transport: any HTTPTransport & NetworkDispatcher {
        switch self {
        case .curl: CurlNetworkDispatcher.shared
        case .urlsession: URLSessionNetworkDispatcher.shared
        }
    }
}
