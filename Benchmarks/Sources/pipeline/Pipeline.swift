import Bench
import CurlTransport
import FoundationEssentials
import NetworkCore

/// The pipeline over libcurl: a checked and validated body, not decoded.
struct Pipeline: Contender {
    private let client: NetworkClient
    private let request: RequestData
    private let poll: RequestData

    init(_ arguments: Arguments) throws {
        client = .benchmark(arguments)
        request = RequestData(path: arguments.url)
        poll = RequestData(path: arguments.pollURL)
    }

    func get() async throws -> Int { try await client.data(for: request).count }

    func poll() async throws { _ = try await client.data(for: poll) }
}

extension NetworkClient {
    static func benchmark(_ arguments: Arguments) -> NetworkClient {
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = max(128, arguments.connections)
        configuration.maximumConnections = max(configuration.maximumConnections, arguments.connections)
        var options = TransportOptions()
        options.maximumBodyBytes = 1 << 30
        if arguments.usesHTTP2 { options.httpVersion = .http2 }
        if let authority = arguments.authority { options.tls.authorities = .file(authority) }
        return NetworkClient(transport: CurlNetworkDispatcher(configuration: configuration), options: options)
    }
}

@main
enum Program {
    static func main() async { await Run.main(Pipeline.self) }
}
