public import NetworkCore
public struct CurlNetworkDispatcher: HTTPTransport {
    public static let instance = CurlNetworkDispatcher()
    public var name: String { "curl" }
    public var capabilities: TransportCapabilities { .init(transport: name, basis: "", supported: []) }
    public func send(_ request: TransportRequest) async throws -> TransportResponse { throw NetworkError(.unsupported, "") }
}
