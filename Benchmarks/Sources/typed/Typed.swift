import Bench
import CurlBench
import CurlTransport
import FoundationEssentials
import NetworkCore

/// The contender that uses the typed call over libcurl: the whole pipeline and a decoded value.
struct Typed: Contender {
    private let client: NetworkClient
    private let request: RequestData
    private let poll: RequestData

    init(_ arguments: Arguments) throws {
        client = try .benchmark(arguments)
        request = RequestData(path: arguments.url)
        poll = RequestData(path: arguments.pollURL)
    }

    func get() async throws -> Int { throw CanNot() }

    func decode() async throws -> Int {
        let items = try await client.send(request, as: [Item].self).body
        guard items.first?.id == 1 else { throw WrongAnswer("the first item is wrong") }
        return 0
    }

    func poll() async throws { _ = try await client.send(poll, as: .data).body }
}

@main
enum Program {
    static func main() async { await Run.main(Typed.self) }
}
