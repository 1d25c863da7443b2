public import NetworkCore
public struct URLSessionNetworkDispatcher: HTTPTransport {
    public static let instance = URLSessionNetworkDispatcher()
    public var name: String { "urlsession" }
    public var capabilities: TransportCapabilities { .init(transport: name, basis: "", supported: []) }
    public func send(_ request: TransportRequest) async throws -> TransportResponse { throw NetworkError(.unsupported, "") }
}
