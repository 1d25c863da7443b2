import Foundation
import NetworkLayer
import NetworkTesting
import Testing

/// The samples of 'Testing your code', verbatim. They also run as tests. `DocumentationTests` compares the two.
@Suite(.timeLimit(.minutes(1)))
struct TestingSamples {
    typealias User = ArticleSamples.User
    typealias GetUsers = ArticleSamples.GetUsers

    @Test func `a stub responds without a network`() async throws {
        let stub = StubTransport()
        stub.when(.get("/users"), .json([User(id: 1, name: "Ada")]))

        let users = try await GetUsers(page: 1).send(over: stub).body

        #expect(users.count == 1)
        #expect(stub.sent.map(\.target) == ["/users?page=1&tags=a"])
        try stub.checkAllUsed()
    }

    @Test func `a stub has sequences, predicates and failures`() async throws {
        let stub = StubTransport()
        stub.when(.get("/users?page=2&tags=a"), .json([User(id: 2, name: "Bo")]))
        stub.when(.get("/users").with("page 3") { $0.query.contains("page=3") }, .json([["id": 3, "name": "Cy"]]))
        stub.when(.get("/users"), .status(503), .failure(NetworkError.connectTimeout), .text("[]"))
        stub.always(.any, .computed { request in .text("not here: \(request.target)", status: 404) })

        let client = NetworkClient(transport: stub)
        var outcomes: [String] = []
        for page in [1, 1, 2, 3, 1, 1] {
            do {
                outcomes.append("\(try await client.send(GetUsers(page: page)).body.count)")
            } catch let error as NetworkError {
                outcomes.append(error.response.map { "\($0.status.code)" } ?? error.code.rawValue)
            }
        }
        #expect(outcomes == ["503", "connectTimeout", "1", "1", "0", "404"])
    }

    @Test func `a delay passes without waiting`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock)
        stub.when(.any, .text("[]").after(.seconds(3600)))

        let users = Task { try await GetUsers(page: 1).send(over: stub).body }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        await #expect(throws: NetworkError.self) { try await users.value }
    }

    @Test func `retries pass without waiting`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock)
        stub.when(.get("/users"), .status(503), .json([User(id: 1, name: "Ada")]))
        let client = NetworkClient(transport: stub).with {
            $0.interceptors.append(.retry(time: TimeSource(clock: clock)))
        }

        let users = Task { try await client.send(GetUsers(page: 1)).body }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))

        #expect(try await users.value.count == 1)
        #expect(stub.sent.count == 2)
        try stub.checkAllUsed()
    }

    @Test func `servers on loopback`() async throws {
        let client = NetworkClient(transport: CurlNetworkDispatcher.shared)
        let server = DemoServer()
        try await server.start()
        let local = client.with { $0.baseURL = server.baseURL }
        let users = try await local.send(RequestData(path: "users"), as: [User].self).body
        await server.stop()
        #expect(!users.isEmpty)

        let cut = Script.raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
        try await withServer(cut, .ok("second time lucky")) { server in
            let request = RequestData(url: server.url("/x"))
            await #expect(throws: NetworkError.self) { try await client.send(request, as: .text) }
            let second = try await client.send(request, as: .text).body
            #expect(second == "second time lucky")
            #expect(server.requests.map(\.target) == ["/x", "/x"])
        }
    }

    @Test func `a body arrives in pieces`() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock)
        let pieces = [Data("one\n".utf8), Data("two\n".utf8)]
        stub.when(.get("/lines"), .chunks(pieces, every: .seconds(1), thenFailing: NetworkError(.truncatedBody, "cut")))

        let body = try await NetworkClient(transport: stub).send(
            RequestData(path: "http://127.0.0.1/lines"), as: .stream
        ).body
        let text = Task { try await body.collect() }
        for _ in pieces {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
        }
        await #expect(throws: NetworkError.self) { try await text.value }
    }
}
