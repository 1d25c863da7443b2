import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Responses whose bodies nothing reads: that of a redirect, of a 401, of a retried attempt, or of a refused stream.
/// The next exchange of the call must not wait for them. Regression: with one connection for the origin, it waited
/// indefinitely.
@Suite(.patience(minutes: 1))
struct GivenUpContract {
    private static let transports: [ContractTransport] = {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 1
        let narrow = CurlNetworkDispatcher(configuration: configuration)
        return [ContractTransport(kind: "curl with one connection", transport: narrow), .urlsession]
    }()

    /// The form in which the unread body arrives.
    enum Body: CaseIterable, Sendable {
        case large, unfinished, endless, withheld, encoded

        func script(_ status: Int, _ fields: [(String, String)] = []) -> Script {
            func head(_ more: (String, String)...) -> Script.Step {
                .send(Script.head(status, fields: fields + more))
            }
            let length = ("Content-Length", "300000")
            let bytes = PatternBytes.make(count: 300_000)
            switch self {
            case .large: return [.read, head(length, ("Connection", "close")), .send(bytes), .close]
            case .unfinished: return [.read, head(length), .send(bytes.prefix(100_000)), .stall]
            case .endless:
                let chunk = Data("4000\r\n".utf8) + bytes.prefix(0x4000) + Data("\r\n".utf8)
                return [.read, head(("Transfer-Encoding", "chunked")), .flood(chunk)]
            case .withheld: return [.read, head(("Content-Length", "3")), .stall]
            case .encoded: return [.read, head(length, ("Content-Encoding", "gzip")), .stall]
            }
        }
    }

    /// Sends a request to a server whose second response is `end`.
    private func send(
        _ transport: ContractTransport, _ method: HTTPRequest.Method = .get, first: Script,
        then second: Script = .ok("end"),
        _ change: (inout NetworkClient, String) throws -> Void = { _, _ in }
    ) async throws -> (response: NetworkResponse<Data>, requests: [ReceivedRequest]) {
        let server = try ScriptedServer(first, second)
        defer { server.stop() }
        var client = transport.client
        try change(&client, server.url())
        let response = try await client.send(try transport.request(method, server.url()), as: .data)
        return (response, server.requests)
    }

    /// URLSession reports a redirect only after its body has ended.
    private static let redirects = Body.allCases.map { (transports[0], $0) } + [(.urlsession, .large)]

    @Test(arguments: redirects)
    func `a redirect's body is given up and the redirect followed`(transport: ContractTransport, body: Body)
        async throws
    {
        let (response, requests) = try await send(transport, first: body.script(302, [("Location", "/next")]))
        #expect(response.body == Data("end".utf8))
        #expect(requests.map(\.target) == ["/", "/next"])
    }

    @Test(arguments: transports) func `a redirect of HEAD is followed`(transport: ContractTransport) async throws {
        let fields = [("Location", "/next"), ("Content-Length", "300000")]
        let end = Script.head(200, fields: fields)
        let redirect: Script = [.read, .send(Script.head(302, fields: fields)), .forEachRequest([.send(end)])]
        let (response, requests) = try await send(transport, .head, first: redirect, then: .raw(end))
        #expect(response.status == .ok && response.body.isEmpty)
        #expect(requests.map(\.target) == ["/", "/next"])
    }

    @Test(arguments: transports, [Body.large, .withheld])
    func `a refused body is given up and the token renewed`(transport: ContractTransport, body: Body) async throws {
        let (response, requests) = try await send(transport, first: body.script(401)) { client, url in
            client.exchangeInterceptors = [try BearerAuthentication(for: [url], token: "old") { _ in "new" }]
        }
        #expect(response.body == Data("end".utf8))
        #expect(requests.map { $0.values(of: "Authorization") } == [["Bearer old"], ["Bearer new"]])
    }

    @Test(arguments: transports, [Body.large, .withheld])
    func `a momentary status is asked again`(transport: ContractTransport, body: Body) async throws {
        let (response, _) = try await send(transport, first: body.script(503)) { client, _ in
            client.interceptors = [.retry(RetryInterceptor.Policy(), time: RecordedPauses().time)]
        }
        #expect(response.body == Data("end".utf8) && response.attempts == 2)
    }

    /// Regression: the call waited for 64 KiB of the body or its end, which this server never sends.
    @Test(arguments: transports) func `a refused stream is not waited for`(transport: ContractTransport) async throws {
        let fields = [("Content-Type", "text/html"), ("Content-Length", "300000")]
        try await withServer(
            [.read, .send(Script.head(200, fields: fields) + Data("<html>".utf8)), .stall]
        ) { server in
            let client = transport.client.with {
                ($0.options.totalTimeout, $0.options.idleTimeout) = (.seconds(40), .seconds(40))
            }
            let start = ContinuousClock.now
            let error = await expectFailure(.unacceptableContentType) {
                try await client.send(RequestData(path: server.url()), as: .events)
            }
            #expect(error?.response?.body == Data("<html>".utf8))
            #expect(ContinuousClock.now - start < .seconds(30))
        }
    }
}
