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

        func script(_ status: Int, _ fields: [(String, String)]) -> Script {
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

    /// URLSession reports a redirect only after its body has ended.
    private static let redirects = Body.allCases.map { (transports[0], $0) } + [(.urlsession, .large)]

    @Test(arguments: redirects)
    func `a redirect's body is given up and the redirect followed`(transport: ContractTransport, body: Body)
        async throws
    {
        let server = try ScriptedServer(body.script(302, [("Location", "/next")]), .ok("end"))
        defer { server.stop() }
        let response = try await transport.client.send(try transport.request(.get, server.url()), as: .stream)
        #expect(try await response.body.collect() == Data("end".utf8))
        #expect(server.requests.map(\.target) == ["/", "/next"])
    }

    @Test(arguments: transports) func `a redirect of HEAD is followed`(transport: ContractTransport) async throws {
        let fields = [("Location", "/next"), ("Content-Length", "300000")]
        let server = try ScriptedServer(
            [
                .read, .send(Script.head(302, fields: fields)),
                .forEachRequest([.send(Script.head(200, fields: fields))]),
            ],
            .raw(Script.head(200, fields: fields))
        )
        defer { server.stop() }
        let response = try await transport.client.send(try transport.request(.head, server.url()), as: .stream)
        #expect(response.status == .ok)
        #expect(try await response.body.collect().isEmpty)
        #expect(server.requests.map(\.target) == ["/", "/next"])
    }

    @Test(arguments: transports, [Body.large, .withheld])
    func `a refused body is given up and the token renewed`(transport: ContractTransport, body: Body) async throws {
        let server = try ScriptedServer(body.script(401, []), .ok("in"))
        defer { server.stop() }
        var client = transport.client
        client.exchangeInterceptors = [
            try BearerAuthentication(for: [server.url()], token: TransportOptions.Secret("old")) { _ in
                TransportOptions.Secret("new")
            }
        ]
        let response = try await client.send(try transport.request(.get, server.url()), as: .stream)
        #expect(try await response.body.collect() == Data("in".utf8))
        #expect(server.requests.map { $0.values(of: "Authorization") } == [["Bearer old"], ["Bearer new"]])
    }

    @Test(arguments: transports, [Body.large, .withheld])
    func `a momentary status is asked again`(transport: ContractTransport, body: Body) async throws {
        let server = try ScriptedServer(body.script(503, []), .ok("at last"))
        defer { server.stop() }
        var client = transport.client
        client.interceptors = [.retry(RetryInterceptor.Policy(), time: RecordedPauses().time)]
        let response = try await client.send(try transport.request(.get, server.url()), as: .stream)
        #expect(try await response.body.collect() == Data("at last".utf8))
        #expect(response.attempts == 2)
    }

    /// Regression: the call waited for 64 KiB of the body or its end, which this server never sends.
    @Test(arguments: transports) func `a refused stream is not waited for`(transport: ContractTransport) async throws {
        let fields = [("Content-Type", "text/html"), ("Content-Length", "300000")]
        let server = try ScriptedServer([.read, .send(Script.head(200, fields: fields) + Data("<html>".utf8)), .stall])
        defer { server.stop() }
        var client = NetworkClient(transport: transport.transport)
        client.options.totalTimeout = .seconds(40)
        client.options.idleTimeout = .seconds(40)
        let start = ContinuousClock.now
        let error = await expectFailure(.unacceptableContentType) {
            try await client.send(RequestData(path: server.url()), as: .events)
        }
        #expect(error?.response?.body == Data("<html>".utf8))
        #expect(ContinuousClock.now - start < .seconds(30))
    }
}
