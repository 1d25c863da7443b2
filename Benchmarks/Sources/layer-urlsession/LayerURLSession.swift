import Bench
import FoundationEssentials
import NetworkCore
import URLSessionTransport

/// The contender that uses this library over URLSession: `send` and the collected body.
struct LayerURLSession: Contender {
    private let request: TransportRequest
    private let pollURL: String

    init(_ arguments: Arguments) throws {
        var options = TransportOptions()
        options.maximumBodyBytes = 1 << 30
        request = TransportRequest(url: try RequestURL(arguments.url), options: options)
        pollURL = arguments.pollURL
        // URLSession trusts only the system's authorities.
        if arguments.authority != nil { throw CanNot() }
    }

    func get() async throws -> Int { try await answer(to: request) }

    func stream() async throws -> Int {
        var count = 0
        for try await chunk in try await URLSessionNetworkDispatcher.shared.send(request).body {
            count += chunk.count
        }
        return count
    }

    func post() async throws {
        var request = request
        request.method = .post
        request.body = .bytes(Self.piece)
        _ = try await answer(to: request)
    }

    func decode() async throws -> Int {
        let client = NetworkClient(transport: URLSessionNetworkDispatcher.shared)
        let items = try await client.send(RequestData(path: request.url.absoluteString), as: [Item].self).body
        guard items.first?.id == 1 else { throw WrongAnswer("the first item is wrong") }
        return 0
    }

    private func answer(to request: TransportRequest) async throws -> Int {
        let response = try await URLSessionNetworkDispatcher.shared.send(request)
        guard response.head.status.code == 200 else { throw WrongAnswer("status \(response.head.status)") }
        return try await response.body.collect().count
    }

    private static let piece = Data(repeating: UInt8(ascii: "a"), count: pieceBytes)
}

@main
enum Program {
    static func main() async { await Run.main(LayerURLSession.self) }
}
