import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct RetryContract {
    /// Returns a client whose pauses take no time.
    private func client(_ transport: ContractTransport, retries: Int = 2) -> NetworkClient {
        var policy = RetryInterceptor.Policy()
        policy.maximumRetries = retries
        let time = TimeSource(now: { Date() }, sleep: { _ in }, random: { 1 })
        var client = transport.client
        client.interceptors = [.retry(policy, time: time)]
        return client
    }

    private static func busy(_ status: Int = 503, fields: [(String, String)] = []) -> Script {
        let all = fields + [("Connection", "close"), ("Content-Length", "4")]
        return [.read, .send(Script.head(status, fields: all) + Data("busy".utf8)), .close]
    }

    @Test(arguments: ContractTransport.all, [408, 425, 429, 502, 503, 504])
    func `a momentary status is asked again`(transport: ContractTransport, status: Int) async throws {
        let server = try ScriptedServer(Self.busy(status), Self.busy(status), .ok("at last"))
        defer { server.stop() }
        let response = try await client(transport).send(RequestData(path: server.url("/x")), as: .data)
        #expect(response.body == Data("at last".utf8))
        #expect(response.attempts == 3)
        #expect(server.requests.map(\.target) == ["/x", "/x", "/x"])
    }

    @Test(arguments: ContractTransport.all, [0, 1, 3])
    func `retries are counted at the server`(transport: ContractTransport, retries: Int) async throws {
        let server = try ScriptedServer(Self.busy())
        defer { server.stop() }
        let error = await expectFailure(.unacceptableStatus) {
            try await client(transport, retries: retries).send(RequestData(path: server.url()), as: .data)
        }
        #expect(error?.response?.body == Data("busy".utf8))
        #expect(error?.exchange?.attempts == retries + 1)
        #expect(server.requests.count == retries + 1)
    }

    @Test(arguments: ContractTransport.all)
    func `a request on a closed connection is sent again`(transport: ContractTransport)
        async throws
    {
        let server = try ScriptedServer(.closed, .ok("second time lucky"))
        defer { server.stop() }
        let response = try await client(transport).send(RequestData(path: server.url()), as: .data)
        #expect(response.body == Data("second time lucky".utf8))
        #expect(server.requests.count == 2)
        #expect(response.attempts == 2)
    }

    @Test(arguments: ContractTransport.all) func `a POST is sent once`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(Self.busy())
        defer { server.stop() }
        await expectFailure(.unacceptableStatus) {
            try await client(transport).send(
                RequestData(path: server.url(), method: .post, parameters: ["a": 1]), as: .data)
        }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ContractTransport.all)
    func `a body is sent again whole`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(Self.busy(), .ok())
        defer { server.stop() }
        let body = PatternBytes.make(count: 100_000)
        let request = try transport.request(.put, server.url(), body: .bytes(body))
        #expect(try await client(transport).send(request, as: .stream).status == .ok)
        #expect(server.requests.map(\.body) == [body, body])
    }

    @Test(arguments: ContractTransport.all) func `Retry-After beyond the deadline is not waited for`(
        transport: ContractTransport
    ) async throws {
        let server = try ScriptedServer(Self.busy(fields: [("Retry-After", "40")]))
        defer { server.stop() }
        // The client's calls end after 30 seconds.
        await expectFailure(.unacceptableStatus) {
            try await client(transport).send(RequestData(path: server.url()), as: .data)
        }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ContractTransport.all) func `a hundred refusals are one refresh`(transport: ContractTransport)
        async throws
    {
        let login = try ScriptedServer(.ok("fresh"))
        defer { login.stop() }
        let allRefused = Gate()
        let refusals = Guarded(0)
        let url = try await Demo.url("/bearer/fresh")
        let bearer = try BearerAuthentication(for: [url], token: "stale") { _ in
            try await allRefused.wait()
            let token = try await transport.client.send(RequestData(path: login.url("/token")), as: .data).body
            return TransportOptions.Secret(String(decoding: token, as: UTF8.self))
        }
        var client = transport.client
        let counting = ResponseAdapter { response in
            guard response.head.status == .unauthorized else { return }
            if refusals.withLock({
                $0 += 1; return $0
            }) == 100 {
                allRefused.open()
            }
        }
        client.exchangeInterceptors = [bearer, counting]
        let sender = client
        let good = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask { try await sender.send(RequestData(path: url), as: .data).status == .ok }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 100)
        #expect(refusals.withLock { $0 } == 100)
        #expect(login.requests.map(\.target) == ["/token"])
    }
}
