import Foundation
import NetworkLayer
import Testing

/// The samples of the article on writing a transport, verbatim. `DocumentationTests` compares the two.
struct TransportSamples {
    private typealias User = ArticleSamples.User
    private typealias GetUsers = ArticleSamples.GetUsers

    struct MemoryTransport: HTTPTransport {
        let name = "memory"
        let capabilities = TransportCapabilities(
            transport: "memory", basis: "a dictionary", supported: [.ipv6Literals, .streamedRequestBodies])
        let pages: [String: String]

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try request.check(for: capabilities)
            if request.method == .post, let body = try request.wireBody() {
                let bytes = try await body.collect(upTo: request.options.maximumBodyBytes)
                return TransportResponse(head: HTTPResponse(status: .created), body: TransportResponse.Body(bytes))
            }
            guard let page = pages[request.url.path] else {
                return TransportResponse(head: HTTPResponse(status: .notFound), body: TransportResponse.Body(Data()))
            }
            var head = HTTPResponse(status: .ok)
            head.headerFields[.contentType] = "application/json"
            return TransportResponse(head: head, body: TransportResponse.Body(Data(page.utf8)))
        }
    }

    @Test func `the transport of the article carries a typed request`() async throws {
        let offline = NetworkClient(transport: MemoryTransport(pages: ["/users": #"[{"id": 1, "name": "Ada"}]"#]))
        let users = try await offline.send(GetUsers(page: 1)).body
        #expect(users.map(\.name) == ["Ada"])
    }

    @Test func `it sends a posted body back`() async throws {
        let upload = RequestData(
            path: "http://h/", method: .post,
            content: .stream(
                AsyncStream {
                    $0.yield(Data("a".utf8)); $0.finish()
                }, contentType: nil))
        let response = try await NetworkClient(transport: MemoryTransport(pages: [:])).send(upload, as: .text)
        #expect(response.status == .created && response.body == "a")
    }

    @Test func `unsupported options are refused before sending`() async throws {
        var offline = NetworkClient(transport: MemoryTransport(pages: [:]))
        offline.options.httpVersion = .http2
        await #expect(throws: NetworkError.self) { try await offline.send(GetUsers(page: 1)) }
    }
}
