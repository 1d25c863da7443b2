import Bench
import CurlBench
import CurlTransport
import FoundationEssentials
import NetworkCore

/// The contender that uses the pipeline over libcurl: a checked and validated body, not decoded.
struct Pipeline: Contender {
    private let client: NetworkClient
    private let request: RequestData
    private let poll: RequestData

    init(_ arguments: Arguments) throws {
        client = try .benchmark(arguments)
        request = RequestData(path: arguments.url)
        poll = RequestData(path: arguments.pollURL)
    }

    func get() async throws -> Int { try await client.send(request, as: .data).body.count }

    func poll() async throws { _ = try await client.send(poll, as: .data).body }
}

@main
enum Program {
    static func main() async { await Run.main(Pipeline.self) }
}
