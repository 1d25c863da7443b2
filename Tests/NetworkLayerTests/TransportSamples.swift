import Foundation
import NetworkLayer
import Testing

extension TransportOptions.Key<Int> {
    static var shelf: Self { Self("shelf") { (1...9).contains($0) ? nil : "is \($0); it must be from 1 to 9" } }
}

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

    @Test func `an option of the transport's own is checked, and refused by other transports`() throws {
        var request = TransportRequest(url: try RequestURL("http://h/"))
        request.options[.shelf] = 3
        #expect(request.options[.shelf] == 3)
        let offline = MemoryTransport(pages: [:]).capabilities
        #expect(throws: NetworkError.self) { try request.check(for: offline) }
        var own = offline
        own.supported.insert(TransportOptions.Key.shelf.capability)
        try request.check(for: own)
        request.options[.shelf] = 10
        let error = #expect(throws: NetworkError.self) { try request.check(for: own) }
        #expect(error?.message == "shelf is 10; it must be from 1 to 9")
    }

    @Test func `unsupported options are refused before sending`() async throws {
        var offline = NetworkClient(transport: MemoryTransport(pages: [:]))
        offline.options.httpVersion = .http2
        await #expect(throws: NetworkError.self) { try await offline.send(GetUsers(page: 1)) }
    }
}
