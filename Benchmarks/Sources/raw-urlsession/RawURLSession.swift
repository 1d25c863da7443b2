import Bench
import Foundation
import FoundationNetworking

/// The contender that uses plain URLSession.
struct RawURLSession: Contender {
    private let session: URLSession
    private let request: URLRequest

    init(_ arguments: Arguments) throws {
        // On Linux, URLSession trusts only the system's authorities.
        if arguments.authority != nil { throw CanNot() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = max(128, arguments.connections)
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
        guard let url = URL(string: arguments.url) else { throw WrongAnswer("not a URL: \(arguments.url)") }
        request = URLRequest(url: url)
    }

    func get() async throws -> Int { try await answer(to: request).count }

    func post() async throws {
        var request = request
        request.httpMethod = "POST"
        request.httpBody = Self.piece
        _ = try await answer(to: request)
    }

    func decode() async throws -> Int {
        let items = try JSONDecoder().decode([Item].self, from: try await answer(to: request))
        guard items.first?.id == 1 else { throw WrongAnswer("the first item is wrong") }
        return 0
    }

    private func answer(to request: URLRequest) async throws -> Data {
        let (body, response) = try await session.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
            throw WrongAnswer("\(response)")
        }
        return body
    }

    private static let piece = Data(repeating: UInt8(ascii: "a"), count: pieceBytes)
}

@main
enum Program {
    static func main() async { await Run.main(RawURLSession.self) }
}
