import Foundation
import NetworkLayer
import TestSupport
import Testing

@Suite(.enabled(if: Peers.nginx != nil, Peers.absence(of: Peers.nginxVariable)))
struct NginxTests {
    private func get(_ path: String, over kind: TransportKind) async throws -> NetworkResponse<Data> {
        let base = try #require(Peers.nginx)
        return try await Peers.client(over: kind).send(RequestData(path: base + path), as: .data)
    }

    /// Returns a Bool: the difference between two such bodies takes long to compute and is no use to read.
    private static func isNumbers(_ body: Data) -> Bool { body == NghttpdTests.numbers }

    @Test(arguments: TransportKind.allCases)
    func `a static file arrives with its length, type, date, and tag`(kind: TransportKind) async throws {
        let response = try await get("/hello.txt", over: kind)
        #expect(response.body == Data("hello from nginx\n".utf8))
        #expect(response.status == .ok)
        #expect(response.headerFields[.contentType] == "text/plain")
        #expect(response.headerFields[.contentLength] == "17")
        #expect(response.headerFields[.lastModified] == "Thu, 29 Feb 2024 12:34:56 GMT")
        let tag = try #require(response.headerFields[.eTag])
        #expect(tag.hasPrefix("\""))
        // A request with a current tag gets a 304 without a body.
        let path = try #require(Peers.nginx) + "/hello.txt"
        let request = try RequestData(path: path, headerFields: ["If-None-Match": tag]).transportRequest()
        let current = try await kind.transport.send(request)
        #expect(current.head.status == .notModified)
        #expect(try await current.body.collect().isEmpty)
    }

    @Test(arguments: TransportKind.allCases)
    func `HEAD has the length of the file and no body`(kind: TransportKind) async throws {
        let path = try #require(Peers.nginx) + "/numbers.txt"
        let response = try await Peers.client(over: kind).send(RequestData(path: path, method: .head), as: .data)
        #expect(response.body.isEmpty)
        #expect(response.headerFields[.contentLength] == "1048576")
    }

    @Test(arguments: TransportKind.allCases, ["/empty.txt", "/numbers.txt", "/gzip/numbers.txt"])
    func `a file arrives whole, decompressed, and the head still names the coding`(
        kind: TransportKind, path: String
    ) async throws {
        let response = try await get(path, over: kind)
        #expect(path == "/empty.txt" ? response.body.isEmpty : Self.isNumbers(response.body))
        #expect(response.headerFields[.contentEncoding] == (path.hasPrefix("/gzip") ? "gzip" : nil))
    }

    @Test(arguments: TransportKind.allCases)
    func `a compressed JSON file decodes to a thousand values`(kind: TransportKind) async throws {
        let users = try await GetUsers(base: #require(Peers.nginx)).send(over: kind.transport).body
        #expect(users.count == 1000)
        #expect(users.last == User(id: 1000, name: "user 1000"))
    }

    @Test(arguments: TransportKind.allCases)
    func `a missing page is an error that carries the status and the page`(kind: TransportKind) async throws {
        let error = await expectFailure(.unacceptableStatus) { try await get("/nowhere", over: kind) }
        let answer = try #require(error?.response)
        #expect(answer.status == .notFound)
        #expect(answer.headerFields[.contentType] == "text/html")
        #expect(String(decoding: answer.body, as: UTF8.self).contains("404 Not Found"))
    }

    @Test(arguments: TransportKind.allCases)
    func `fifty requests survive a connection that closes after every third`(kind: TransportKind) async throws {
        var places: [Int] = []
        for _ in 1...50 {
            let response = try await get("/three/hello.txt", over: kind)
            #expect(response.body == Data("hello from nginx\n".utf8))
            places.append(try #require(Int(response.headerFields[.connectionRequests] ?? "")))
        }
        // The connection pool is shared: other tests may have used a connection before.
        #expect(places.contains { $0 > 1 }, "no connection was kept alive")
        #expect(zip(places, places.dropFirst()).contains { $1 <= $0 }, "no connection was closed")
    }

    @Test func `the metrics show a connection that closes after every third request`() async throws {
        let transport = CurlNetworkDispatcher()
        let url = try RequestURL(try #require(Peers.nginx) + "/three/hello.txt")
        var reused: [Bool?] = []
        for _ in 1...12 { reused.append(try await Exchange(url, over: transport).metrics.connectionReused) }
        #expect(reused == (1...4).flatMap { _ in [false, true, true] })
    }

    /// The server reads and refuses a POST to a file. Each request must get a response although its connection may be
    /// closing.
    @Test(arguments: TransportKind.allCases)
    func `bodies survive a connection that closes after every third request`(kind: TransportKind) async throws {
        let url = try RequestURL(#require(Peers.nginx) + "/three/hello.txt")
        for round in 1...30 {
            let exchange = try await Exchange(url, body: .bytes(Data(count: round * 1000)), over: kind.transport)
            #expect(exchange.status == 405)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `concurrent requests survive connections that close after every third`(kind: TransportKind) async throws {
        let bodies = try await atOnce(50) { _ in try await get("/three/hello.txt", over: kind).body }
        #expect(bodies == Array(repeating: Data("hello from nginx\n".utf8), count: 50))
    }
}

private struct User: Codable, Equatable {
    let id: Int
    let name: String
}

private struct GetUsers: RequestType {
    typealias ResponseType = [User]
    let base: String
    var data: RequestData { RequestData(path: base + "/gzip/users.json") }
}
