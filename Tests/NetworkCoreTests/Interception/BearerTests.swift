import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct BearerTests {
    private typealias Answer = AnsweringTransport.Answer
    private struct LoginFailed: Error, Equatable {}

    /// A gate that a test opens and tasks wait for.
    private final class Latch: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func open() { continuation.finish() }
        func wait() async { for await _ in stream {} }
    }

    /// Returns a server that accepts one token.
    private func server(taking token: String) -> AnsweringTransport {
        AnsweringTransport { request in
            request.headerFields[.authorization] == "Bearer \(token)" ? Answer(body: "in") : Answer(status: 401)
        }
    }

    private func client(_ transport: AnsweringTransport, _ bearer: BearerAuthentication) -> NetworkClient {
        var client = NetworkClient(transport: transport)
        client.exchangeInterceptors = [bearer]
        return client
    }

    private func status(_ client: NetworkClient, _ url: String = "http://a/") async throws -> Int {
        try await client.send(try .make(.get, url), as: .stream).status.code
    }

    private enum Tenant { @TaskLocal static var name: String? }

    /// Regression: the refresh that all requests share ran with the task-local values of the first one.
    @Test func `a refresh has no request's task-local values`() async throws {
        let seen = Guarded<[String?]>([])
        let bearer = try BearerAuthentication(for: ["http://a"]) { _ in
            seen.withLock { $0.append(Tenant.name) }
            return "t1"
        }
        let client = client(server(taking: "t1"), bearer)
        let code = try await Tenant.$name.withValue("A") { try await status(client) }
        #expect(code == 200)
        #expect(seen.withLock { $0 } == [nil])
    }

    /// Regression: the repeats of a response that a new token takes the place of were missing.
    @Test func `what the transport repeated before a new token is an attempt`() async throws {
        let transport = RepeatingTransport()
        var client = NetworkClient(transport: transport)
        client.exchangeInterceptors = [try BearerAuthentication(for: ["http://a"], token: "old") { _ in "new" }]
        let response = try await client.send(RequestData(path: "http://a/"), as: .data)
        #expect(response.attempts == 3)
    }

    @Test func `the first request asks for the token`() async throws {
        let transport = server(taking: "t1")
        let bearer = try BearerAuthentication(for: ["http://a"]) { refused in
            #expect(refused == nil)
            return "t1"
        }
        #expect(try await status(client(transport, bearer)) == 200)
        #expect(transport.requests.count == 1)
    }

    /// Regression: the token took the place of user and password in the request's own URL.
    @Test func `a request's own user and password come first, the base URL's do not`() async throws {
        let transport = AnsweringTransport(Answer())
        var client = client(transport, try BearerAuthentication(for: ["http://a"], token: "t"))
        _ = try await client.send(TransportRequest(to: "http://u:p@a/"), as: .stream)
        _ = try await client.send(RequestData(path: "http://u:p@a/"), as: .stream)
        client.baseURL = "http://u:p@a/"
        _ = try await client.send(RequestData(path: "b"), as: .stream)
        _ = try await client.send(try .make(.get, "http://a/"), as: .stream)
        let sent = transport.requests.map { $0.wireFields[.authorization] }
        #expect(sent == ["Basic dTpw", "Basic dTpw", "Bearer t", "Bearer t"])
    }

    /// Uploads alone would otherwise send the refused token again and again.
    @Test func `a refused token is renewed after a body that can't be sent again`() async throws {
        let transport = server(taking: "new")
        let bearer = try BearerAuthentication(for: ["http://a"], token: "old") { _ in "new" }
        let client = client(transport, bearer)
        var statuses: [Int] = []
        for _ in 0..<3 {
            let stream = AsyncStream<Data> { $0.finish() }
            let request = try TransportRequest(method: .post, to: "http://a/", body: .stream(stream))
            statuses.append(try await client.send(request, as: .stream).status.code)
        }
        #expect(statuses == [401, 200, 200])
    }

    @Test func `a refused token is renewed once, and kept`() async throws {
        let transport = server(taking: "new")
        let refused = Guarded<[TransportOptions.Secret?]>([])
        let bearer = try BearerAuthentication(for: ["http://a"], token: "old") { token in
            refused.withLock { $0.append(token) }
            return "new"
        }
        let client = client(transport, bearer)
        for _ in 0..<3 { #expect(try await status(client) == 200) }
        #expect(refused.withLock { $0 } == ["old"])
        #expect(transport.requests.count == 4)
    }

    /// Returns a server that takes the token "new", and refuses another one once all requests of a test have come with
    /// it: one that begins during the refresh would not send it.
    private func server(refusing count: Int) -> (transport: AnsweringTransport, refused: Meeting) {
        let (sent, refused) = (Meeting(of: count), Meeting(of: count))
        let transport = AnsweringTransport { request in
            if request.headerFields[.authorization] == "Bearer new" { return Answer(body: "in") }
            sent.come()
            try await sent.wait()
            refused.come()
            return Answer(status: 401)
        }
        return (transport, refused)
    }

    @Test func `many refusals are one refresh`() async throws {
        let (transport, refused) = server(refusing: 100)
        let refreshes = Guarded(0)
        let bearer = try BearerAuthentication(for: ["http://a"], token: "old") { _ in
            refreshes.withLock { $0 += 1 }
            try await refused.wait()
            return "new"
        }
        let client = client(transport, bearer)
        let good = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await status(client) } }
            return try await group.reduce(0) { $0 + ($1 == 200 ? 1 : 0) }
        }
        #expect(good == 100)
        #expect(refreshes.withLock { $0 } == 1)
        #expect(transport.requests.count == 200)
    }

    @Test func `a second refusal is handed back`() async throws {
        let transport = server(taking: "never")
        let refreshes = Guarded(0)
        let bearer = try BearerAuthentication(for: ["http://a"], token: "old") { _ in
            refreshes.withLock { $0 += 1 }
            return "new"
        }
        #expect(try await status(client(transport, bearer)) == 401)
        #expect(transport.requests.count == 2)
        #expect(refreshes.withLock { $0 } == 1)
    }

    /// Regression: such a token was kept, and since no request went out with it, nothing ever renewed it.
    @Test(arguments: ["", "a\n", "a b"])
    func `a refresh with a token that can't be sent has failed`(token: String) async throws {
        let transport = server(taking: "good")
        let refreshes = Guarded(0)
        let bearer = try BearerAuthentication(for: ["http://a"]) { _ in
            let number = refreshes.withLock {
                $0 += 1; return $0
            }
            return number == 1 ? TransportOptions.Secret(token) : "good"
        }
        let client = client(transport, bearer)
        let error = await expectFailure(.invalidOption) { try await status(client) }
        #expect(error?.message.contains("the token of the refresh") == true, "\(error as Any)")
        #expect(try await status(client) == 200)
        #expect(refreshes.withLock { $0 } == 2)
    }

    @Test func `a failed refresh fails all waiting requests, and the next tries anew`() async throws {
        let (transport, refused) = server(refusing: 10)
        let refreshes = Guarded(0)
        let bearer = try BearerAuthentication(for: ["http://a"], token: "old") { _ in
            let number = refreshes.withLock {
                $0 += 1; return $0
            }
            try await refused.wait()
            if number == 1 { throw LoginFailed() }
            return "new"
        }
        let client = client(transport, bearer)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do {
                        _ = try await status(client)
                        return false
                    } catch { return error is LoginFailed }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refreshes.withLock { $0 } <= 2)
        #expect(failures >= 1)
        #expect(try await status(client) == 200)
    }

    @Test func `only its origins get the token`() async throws {
        let transport = AnsweringTransport { request in
            request.url.path == "/away" ? .redirect(to: "http://b/") : Answer()
        }
        let client = client(transport, try BearerAuthentication(for: ["http://a", "https://c:8443"], token: "t"))
        for url in [
            "http://a/x", "http://a:80/", "https://c:8443/", "https://a/", "http://b/", "http://a.b/", "http://a/away",
        ] {
            _ = try await status(client, url)
        }
        #expect(
            transport.requests.map { $0.headerFields[.authorization] != nil }
                == [true, true, true, false, false, false, true, false])
    }

    /// Regression: among the interceptors of the whole call, the 401 of another origin used up the token, and that
    /// origin got each request twice.
    @Test(arguments: [[307], [307, 307]])
    func `a 401 for a request that did not carry the token renews nothing`(redirects: [Int]) async throws {
        let transport = AnsweringTransport { request in
            switch (request.url.host, request.url.path) {
            case ("a", "/"): .redirect(307, to: "http://b/")
            case ("b", _) where redirects.count > 1: .redirect(307, to: "http://a/back")
            default: Answer(status: 401)
            }
        }
        let refreshes = Guarded(0)
        var client = NetworkClient(transport: transport)
        client.interceptors = [
            try BearerAuthentication(for: ["http://a"], token: "t") { _ in
                refreshes.withLock { $0 += 1 }
                return "new"
            }
        ]
        for _ in 0..<5 {
            let request = try TransportRequest.make(.post, "http://a/", body: "x")
            #expect(try await client.send(request, as: .stream).status.code == 401)
        }
        #expect(refreshes.withLock { $0 } == 0)
        #expect(transport.requests.count == 5 * (1 + redirects.count))
        // The last one of each call, of which the 401 was, had no token.
        #expect(transport.requests.last?.headerFields[.authorization] == nil)
    }

    /// A step within may make the response itself; no request goes out then.
    @Test(arguments: [true, false]) func `a 401 of a step within renews the token`(isOfExchange: Bool) async throws {
        struct Refusing: Interceptor {
            func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
                guard request.headerFields[.authorization] == "Bearer old" else { return try await next(request) }
                return TransportResponse(
                    head: HTTPResponse(status: .unauthorized), body: TransportResponse.Body(Data()),
                    metrics: TransportMetrics(total: .milliseconds(1)))
            }
        }
        let bearer = try BearerAuthentication(for: ["http://a"], token: "old") { _ in "new" }
        var client = NetworkClient(transport: server(taking: "new"))
        let steps: [any Interceptor] = [bearer, Refusing()]
        if isOfExchange { client.exchangeInterceptors = steps } else { client.interceptors = steps }
        #expect(try await status(client) == 200)
    }

    @Test func `a request's own credentials pass as they are`() async throws {
        let transport = server(taking: "x")
        let client = client(transport, try BearerAuthentication(for: ["http://a"], token: "t"))
        _ = try await client.send(try .make(.get, "http://a/", fields: [.authorization: "Basic own"]), as: .stream)
        var request = try TransportRequest.make(.get, "http://a/")
        request.options.authentication = .bearer(token: "own")
        _ = try await client.send(request, as: .stream)
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Basic own", nil])
    }

    @Test func `a fixed token is not renewed, nor for a one-time body`() async throws {
        let transport = server(taking: "x")
        #expect(try await status(client(transport, try BearerAuthentication(for: ["http://a"], token: "t"))) == 401)
        #expect(transport.requests.count == 1)
        let renewing = try BearerAuthentication(for: ["http://a"], token: "t") { _ in "x" }
        var request = try TransportRequest.make(.post, "http://a/")
        request.body = .stream(AsyncStream<Data> { $0.finish() }, length: 0)
        #expect(try await client(transport, renewing).send(request, as: .stream).status.code == 401)
        #expect(transport.requests.count == 2)
    }

    @Test func `a token that can't be sent is refused without its text`() async throws {
        let transport = server(taking: "x")
        let bearer = try BearerAuthentication(for: ["http://a"], token: "evil\r\nX: y")
        let error = await expectFailure(.invalidOption) { try await status(client(transport, bearer)) }
        #expect(error.map { !"\($0)".contains("evil") } == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func `a refresh through the same client does not wait for itself`() async throws {
        let transport = AnsweringTransport { request in
            if request.url.path == "/login" { return Answer(body: "new") }
            return request.headerFields[.authorization] == "Bearer new" ? Answer() : Answer(status: 401)
        }
        let login = Guarded<NetworkClient?>(nil)
        let bearer = try BearerAuthentication(for: ["http://a"]) { _ in
            let client = try #require(login.withLock { $0 })
            return TransportOptions.Secret(
                String(
                    decoding: try await client.send(RequestData(path: "http://a/login"), as: .data).body, as: UTF8.self)
            )
        }
        let client = client(transport, bearer)
        login.withLock { $0 = client }
        #expect(try await status(client) == 200)
        #expect(transport.lines == ["GET http://a/login", "GET http://a/"])
        login.withLock { $0 = nil }
    }

    @Test func `a cancelled waiter leaves, and the refresh goes on`() async throws {
        let (started, latch) = (Latch(), Latch())
        let transport = server(taking: "new")
        let bearer = try BearerAuthentication(for: ["http://a"]) { _ in
            started.open()
            await latch.wait()
            return "new"
        }
        let client = client(transport, bearer)
        let first = Task { try await status(client) }
        await started.wait()
        let second = Task { try await status(client) }
        first.cancel()
        await expectFailure(.cancelled) { try await first.value }
        latch.open()
        #expect(try await second.value == 200)
    }

    @Test func `the deadline ends the wait`() async throws {
        let latch = Latch()
        let bearer = try BearerAuthentication(for: ["http://a"]) { _ in
            await latch.wait()
            return "late"
        }
        var request = try TransportRequest.make(.get, "http://a/")
        request.options.totalTimeout = .milliseconds(20)
        let waiting = request
        let client = client(server(taking: "late"), bearer)
        let error = await expectFailure(.totalTimeout) { try await client.send(waiting, as: .stream) }
        #expect(error?.exchange?.url == "http://a/")
        latch.open()
    }

    /// A detached task has none of the refresh's task-local values. Its request waits for the refresh, which in turn
    /// waits for the task.
    @Test func `a refresh that leaves its task fails, and the next request tries anew`() async throws {
        let (waits, never) = (Latch(), Latch())
        let transport = AnsweringTransport { request in
            if request.headerFields[.authorization] == nil { return Answer(body: "new") }
            return request.headerFields[.authorization] == "Bearer new" ? Answer() : Answer(status: 401)
        }
        let refreshes = Guarded(0)
        let login = Guarded<NetworkClient?>(nil)
        let sleeps = Guarded(0)
        let time = TimeSource(
            now: { Date() },
            sleep: { _ in
                let isFirst = sleeps.withLock { count in
                    count += 1
                    return count == 1
                }
                // The timeout of the second refresh would come at once, too, and perhaps before its token.
                await (isFirst ? waits : never).wait()
                try Task.checkCancellation()
            },
            random: { 0 }
        )
        let bearer = try BearerAuthentication(for: ["http://a"], timeout: .seconds(30), time: time) { _ in
            let isFirst = refreshes.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return "new" }
            let client = try #require(login.withLock { $0 })
            let answer = Task.detached { try await client.send(RequestData(path: "http://a/login"), as: .data).body }
            waits.open()
            return TransportOptions.Secret(String(decoding: try await answer.value, as: UTF8.self))
        }
        let client = client(transport, bearer)
        login.withLock { $0 = client }
        let error = await expectFailure(.totalTimeout) { try await status(client) }
        #expect(error?.message.contains("waits for it") == true)
        #expect(try await status(client) == 200)
        #expect(refreshes.withLock { $0 } == 2)
        login.withLock { $0 = nil }
    }

    @Test func `a refresh that ignores its cancellation holds up no request, and brings nothing late`() async throws {
        let (latch, over) = (Latch(), Latch())
        let time = TimeSource(now: { Date() }, sleep: { _ in }, random: { 0 })
        let bearer = try BearerAuthentication(for: ["http://a"], token: "old", timeout: .seconds(1), time: time) { _ in
            await Task.detached { await latch.wait() }.value
            over.open()
            return "late"
        }
        let transport = server(taking: "late")
        await expectFailure(.totalTimeout) { try await status(client(transport, bearer)) }
        latch.open()
        await over.wait()
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer old"])
    }

}

/// A transport that accepts one token, and whose every exchange takes a repeat.
private struct RepeatingTransport: HTTPTransport {
    let name = "repeating"
    let capabilities = TransportCapabilities(transport: "repeating", basis: "a test", supported: [.bodyOnGet])

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let isIn = request.headerFields[.authorization] == "Bearer new"
        var metrics = TransportMetrics(total: .milliseconds(1))
        (metrics.resends, metrics.repeats) = (1, 1)
        return TransportResponse(
            head: HTTPResponse(status: isIn ? .ok : .unauthorized), body: TransportResponse.Body(Data()),
            metrics: metrics)
    }
}
