public import FoundationEssentials

/// The included transports, with the names that configurations use.
public enum TransportKind: String, Sendable, Hashable, CaseIterable {
    /// The system's libcurl: ``CurlTransport/CurlNetworkDispatcher``.
    case curl
    /// Foundation's URLSession: ``URLSessionTransport/URLSessionNetworkDispatcher``.
    case urlsession

    /// The environment variable that selects the default transport.
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
            let choices = Self.allCases.map { "'\($0.rawValue)'" }.joined(separator: " or ")
            let shown = name.unicodeScalars.prefix(64).map { $0.escaped(asASCII: true) }.joined()
            throw NetworkError(
                .invalidConfiguration,
                "\(source) is '\(shown)'; it must be \(choices)",
                phase: .preparing
            )
        }
        self = kind
    }

    /// Returns the transport that an environment selects.
    /// - Parameter environment: The environment. Default: the process's own.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` if ``variable`` has any other value, the empty
    ///   string included.
    public static func selected(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> TransportKind {
        guard let name = environment[variable] else { return standard }
        return try TransportKind(name: name, from: variable)
    }

    /// The shared transport of this kind.
    public var transport: any HTTPTransport {
        switch self {
        case .curl: CurlNetworkDispatcher.instance
        case .urlsession: URLSessionNetworkDispatcher.instance
        }
    }
}
