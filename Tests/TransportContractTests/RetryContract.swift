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
        return transport.client.with { $0.interceptors = [.retry(policy, time: time)] }
    }

    private static func busy(_ status: Int = 503, fields: [(String, String)] = []) -> Script {
        [.read, .respond(status, "busy", fields: fields + [("Connection", "close")]), .close]
    }

    @Test(arguments: ContractTransport.all, [408, 425, 429, 502, 503, 504])
    func `a momentary status is asked again`(transport: ContractTransport, status: Int) async throws {
        try await withServer(Self.busy(status), Self.busy(status), .ok("at last")) { server in
            let response = try await client(transport).send(RequestData(path: server.url("/x")), as: .text)
            #expect(response.body == "at last" && response.attempts == 3)
            #expect(server.requests.map(\.target) == ["/x", "/x", "/x"])
        }
    }

    @Test(arguments: ContractTransport.all, [0, 1, 3])
    func `retries are counted at the server`(transport: ContractTransport, retries: Int) async throws {
        try await withServer(Self.busy()) { server in
            let error = await expectFailure(.unacceptableStatus) {
                try await client(transport, retries: retries).send(RequestData(path: server.url()), as: .data)
            }
            #expect(error?.response?.body == Data("busy".utf8))
            #expect(error?.exchange?.attempts == retries + 1)
            #expect(server.requests.count == retries + 1)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a request on a closed connection is sent again`(transport: ContractTransport) async throws {
        try await withServer(.closed, .ok("second time lucky")) { server in
            let response = try await client(transport).send(RequestData(path: server.url()), as: .text)
            #expect(response.body == "second time lucky" && response.attempts == 2)
            #expect(server.requests.count == 2)
        }
    }

    /// A POST, and a pause beyond the deadline of 30 seconds.
    @Test(arguments: ContractTransport.all, [(HTTPRequest.Method.post, []), (.get, [("Retry-After", "40")])])
    func `what must not be repeated, or could not be in time, is sent once`(
        transport: ContractTransport, row: (method: HTTPRequest.Method, fields: [(String, String)])
    ) async throws {
        try await withServer(Self.busy(fields: row.fields)) { server in
            let parameters: [String: ParameterValue]? = row.method == .post ? ["a": 1] : nil
            let data = RequestData(path: server.url(), method: row.method, parameters: parameters)
            await expectFailure(.unacceptableStatus) { try await client(transport).send(data, as: .data) }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a body is sent again whole`(transport: ContractTransport) async throws {
        try await withServer(Self.busy(), .ok()) { server in
            let body = PatternBytes.make(count: 100_000)
            let request = try transport.request(.put, server.url(), body: .bytes(body))
            #expect(try await client(transport).send(request, as: .stream).status == .ok)
            #expect(server.requests.map(\.body) == [body, body])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a hundred refusals are one refresh`(transport: ContractTransport) async throws {
        try await withServer(.ok("fresh")) { login in
            let (stale, refused) = (Meeting(of: 100), Meeting(of: 100))
            let url = try await Demo.url("/bearer/fresh")
            let bearer = try BearerAuthentication(for: [url], token: "stale") { _ in
                try await refused.wait()
                let token = try await transport.client.send(RequestData(path: login.url("/token")), as: .text).body
                return TransportOptions.Secret(token)
            }
            // A request that begins during the refresh would not send the refused token at all.
            let waiting = RequestAdapter { request in
                guard request.headerFields[.authorization] == "Bearer stale" else { return }
                stale.come()
                try await stale.wait()
            }
            let counting = ResponseAdapter { response in
                if response.head.status == .unauthorized { refused.come() }
            }
            let client = transport.client.with { $0.exchangeInterceptors = [bearer, waiting, counting] }
            let statuses = try await atOnce(100) { _ in
                try await client.send(RequestData(path: url), as: .data).status.code
            }
            #expect(statuses == Array(repeating: 200, count: 100))
            #expect(refused.count == 100)
            #expect(login.requests.map(\.target) == ["/token"])
        }
    }
}
