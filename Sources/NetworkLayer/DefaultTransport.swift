/// The transport that ``TransportKind/variable`` picks, read once, when it is first used.
///
/// With a wrong value the program runs on: each request over it fails with
/// ``NetworkCore/NetworkError/Code/invalidConfiguration``, and nothing is picked silently.
public struct DefaultTransport: HTTPTransport {
    /// The one that the process's environment picks.
    public static let instance = DefaultTransport(selection: Result { try TransportKind.selected() })

    private let selection: Result<any HTTPTransport, any Error>

    init(selection: Result<TransportKind, any Error>) {
        self.selection = selection.map(\.transport)
    }

    /// The picked transport's name, or `none` after a wrong value.
    public var name: String { (try? selection.get().name) ?? "none" }

    /// The picked transport's capabilities; none after a wrong value.
    public var capabilities: TransportCapabilities {
        (try? selection.get().capabilities)
            ?? TransportCapabilities(transport: name, basis: "no transport was picked", supported: [])
    }

    /// Sends over the picked transport.
    /// - Throws: The selection's error, or the transport's.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await selection.get().send(request)
    }
}

extension NetworkClient {
    /// The pipeline over the transport that ``NetworkLayer/TransportKind/variable`` picks, with default options.
    public static var standard: NetworkClient { NetworkClient(transport: DefaultTransport.instance) }
}
