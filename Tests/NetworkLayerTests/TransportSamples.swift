import Foundation
import NetworkLayer
import Testing

/// The samples of the article on writing a transport, word for word.
struct TransportSamples {
    private typealias User = ArticleSamples.User
    private typealias GetUsers = ArticleSamples.GetUsers

    struct MemoryTransport: HTTPTransport {
        let name = "memory"
        let capabilities = TransportCapabilities(transport: "memory", basis: "a dictionary", supported: [.ipv6Literals])
        let pages: [String: String]

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try request.check(for: capabilities)
            guard let page = pages[request.url.path] else {
                return TransportResponse(head: HTTPResponse(status: .notFound), body: ResponseBody(Data()))
            }
            var head = HTTPResponse(status: .ok)
            head.headerFields[.contentType] = "application/json"
            return TransportResponse(head: head, body: ResponseBody(Data(page.utf8)))
        }
    }

    @Test func `the transport of the article carries a typed request`() async throws {
        let offline = NetworkClient(transport: MemoryTransport(pages: ["/users": #"[{"id": 1, "name": "Ada"}]"#]))
        let users = try await offline.send(GetUsers(page: 1)).body
        #expect(users.map(\.name) == ["Ada"])
    }

    @Test func `what it lacks is refused before it is asked`() async throws {
        var offline = NetworkClient(transport: MemoryTransport(pages: [:]))
        offline.options.httpVersion = .http2
        await #expect(throws: NetworkError.self) { try await offline.send(GetUsers(page: 1)) }
    }
}
