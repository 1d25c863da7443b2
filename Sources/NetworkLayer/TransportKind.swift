public import FoundationEssentials

/// The transports that ship, by the names that people type.
public enum TransportKind: String, Sendable, Hashable, CaseIterable {
    /// The system's libcurl: ``CurlTransport/CurlNetworkDispatcher``.
    case curl
    /// Foundation's URLSession: ``URLSessionTransport/URLSessionNetworkDispatcher``.
    case urlsession

    /// The environment variable that picks the default transport.
    public static let variable = "NETWORK_TRANSPORT"

    /// The transport when the variable is unset: curl on Linux, URLSession elsewhere.
    public static var standard: TransportKind {
        .curl
    }

    /// A transport by its name.
    /// - Parameters:
    ///   - name: `curl` or `urlsession`, in small letters.
    ///   - source: Who said so, for the error: a variable, an option.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` that names the source, the value and the
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

    /// The transport that an environment picks.
    /// - Parameter environment: The process's own by default.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` when ``variable`` is set to anything else, the
    ///   empty string included.
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
