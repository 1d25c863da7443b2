import Bench
import CurlTransport
import FoundationEssentials
import NetworkCore

/// The typed call over libcurl: the whole pipeline and a decoded value.
struct Typed: Contender {
    private let client: NetworkClient
    private let request: RequestData
    private let poll: RequestData

    init(_ arguments: Arguments) throws {
        client = .benchmark(arguments)
        request = RequestData(path: arguments.url)
        poll = RequestData(path: arguments.pollURL)
    }

    func get() async throws -> Int { throw CanNot() }

    func decode() async throws -> Int {
        let items = try await client.response(to: request, as: [Item].self).value
        guard items.first?.id == 1 else { throw WrongAnswer("the first item is another") }
        return 0
    }

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
    static func main() async { await Run.main(Typed.self) }
}
