import NetworkTesting
import Synchronization
import Testing
import TestSupport

@testable import NetworkCore

/// Paths with names in braces.
@Suite("Path parameters")
struct PathTemplateTests {
    typealias Values = [String: any CustomStringConvertible & Sendable]

    @Test(
        arguments: [
            ("users/{id}", ["id": 7], "http://h/v1/users/7", "/users/{id}"),
            ("/{a}/{b}-{a}?x=1", ["a": "1", "b": "ä/?#%"], "http://h/v1/1/%C3%A4%2F%3F%23%25-1?x=1", "/{a}/{b}-{a}"),
            ("users/{id}", ["id": "{id}"], "http://h/v1/users/%7Bid%7D", "/users/{id}"),
            ("f/{name}", ["name": "..."], "http://h/v1/f/...", "/f/{name}"),
        ] as [(String, Values, String, String)])
    func `a value is a part of one segment, whatever is in it`(
        path: String, values: Values, url: String, template: String
    ) throws {
        let request = try RequestData(path: path, pathParameters: values, baseURL: "http://h/v1").transportRequest()
        #expect(request.url.absoluteString == url && request.template == template)
    }

    @Test func `a whole URL may have names, and its template begins with the path`() throws {
        let data = RequestData(path: "http://h:81/users/{id}", pathParameters: ["id": true])
        let request = try data.transportRequest()
        #expect(request.url.absoluteString == "http://h:81/users/true" && request.template == "/users/{id}")
    }

    @Test func `without values braces mean nothing`() throws {
        let request = try RequestData(path: "http://h/{id}").transportRequest()
        #expect(request.url.absoluteString == "http://h/%7Bid%7D" && request.template == nil)
    }

    @Test(
        arguments: [
            ("users/{id}", ["name": 1]), ("users/{id}/{name}", ["id": 1]), ("users", ["id": 1]),
            ("users/{id", ["id": 1]),
            ("users/{id}", ["id": ""]), ("users/{id}", ["id": "."]), ("users/{id}", ["id": ".."]),
        ] as [(String, Values)])
    func `a name without a value and a value without a name are refused`(path: String, values: Values) {
        #expect(throws: NetworkError.self, "\(path)") {
            do {
                _ = try RequestData(path: path, pathParameters: values, baseURL: "http://h").transportRequest()
            } catch let error as NetworkError {
                #expect(error.code == .invalidParameters)
                throw error
            }
        }
    }

    @Test func `a redirect leads to another path`() async throws {
        let stub = StubTransport()
        stub.when(.get("/a"), .status(302, headerFields: [.location: "/b"]))
        stub.when(.get("/b"), .text(""))
        let templates = Guarded<[String?]>([])
        var client = NetworkClient(transport: stub, baseURL: "http://h")
        client.exchangeInterceptors.append(Noting { request in templates.withLock { $0.append(request.template) } })
        _ = try await client.send(RequestData(path: "{page}", pathParameters: ["page": "a"]), as: .text)
        #expect(templates.withLock(\.self) == ["/{page}", nil])
    }

    private struct Noting: Interceptor {
        let note: @Sendable (TransportRequest) -> Void

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            note(request)
            return try await next(request)
        }
    }
}
