/// The transport that the environment variable ``TransportKind/variable`` selects. The variable is read once, at the
/// first use of ``instance``.
///
/// With an invalid value the program continues, but each request over this transport fails with
/// ``NetworkCore/NetworkError/Code/invalidConfiguration``. No other transport takes its place.
public struct DefaultTransport: HTTPTransport {
    /// The transport that the process's environment selects.
    public static let instance = DefaultTransport(selection: Result { try TransportChoice.selected() })

    private let selection: Result<any HTTPTransport, any Error>

    init(selection: Result<TransportChoice, any Error>) {
        self.selection = selection.map(\.transport)
    }

    /// The selected transport. If the environment asks for a shadow or a canary, it is a ``ShadowTransport`` or a
    /// ``CanaryTransport``, whose counts a program can read.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` after an invalid value.
    public var selected: any HTTPTransport { get throws { try selection.get() } }

    /// The selected transport's name, or `none` after an invalid value.
    public var name: String { (try? selection.get().name) ?? "none" }

    /// The selected transport's capabilities. After an invalid value all of them, so that no request is refused for
    /// another reason than the value.
    public var capabilities: TransportCapabilities {
        if let selected = try? selection.get().capabilities { return selected }
        var all = TransportCapabilities(
            transport: name, basis: "no transport was selected",
            supported: Set(TransportCapabilities.Capability.wellKnown))
        all.acceptsForeignOptions = true
        return all
    }

    /// Sends a request over the selected transport.
    /// - Throws: The error of the selection, or the transport's.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await selection.get().send(request)
    }
}

extension NetworkClient {
    /// The pipeline over the transport that ``NetworkLayer/TransportKind/variable`` selects, with default options.
    public static var standard: NetworkClient { NetworkClient(transport: DefaultTransport.instance) }
}
