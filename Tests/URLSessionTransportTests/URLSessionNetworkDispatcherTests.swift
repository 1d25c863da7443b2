import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import URLSessionTransport

@Suite struct URLSessionNetworkDispatcherTests {
    private let transport = URLSessionNetworkDispatcher.shared

    @Test func `capabilities give a reason for each missing thing`() {
        for capability in TransportCapabilities.Capability.wellKnown where !transport.capabilities.supports(capability)
        {
            #expect(transport.capabilities.reasons[capability] != nil, "\(capability.rawValue)")
        }
    }

    @Test func `a request that needs a missing thing is refused before it is sent`() async throws {
        var withBody = try makeRequest()
        withBody.body = .bytes(Data("x".utf8))
        let requests = [
            withBody, try makeRequest("http://[::1]/"), try makeRequest { $0.decompress = false },
            try makeRequest { $0.httpVersion = .http1_0 }, try makeRequest { $0.httpVersion = .http1_1 },
            try makeRequest { $0.httpVersion = .http2 },
        ]
        for request in requests {
            let error = await expectFailure(.unsupported, in: .preparing) { try await transport.send(request) }
            #expect(error?.exchange?.transport == "urlsession")
        }
    }

    @Test func `a request is cancelled when the task is cancelled before the start`() async throws {
        let request = try makeRequest("http://127.0.0.1:1/")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await transport.send(request)
        }
        task.cancel()
        let error = await expectFailure(.cancelled) { try await task.value }
        #expect(error?.exchange?.url == "http://127.0.0.1:1/")
    }

    /// Exchanges share the last reading of the system's table: an older one than a check asks for does not serve it.
    @Test(.enabled(if: !ProxyEnvironment.mayApply, "the table says nothing where a proxy may be on the way"))
    func `a connection is seen that was made after another exchange had looked`() async throws {
        let server = try ScriptedServer([
            .read, .send(Script.head(200, fields: [("Content-Length", "9")]) + Data("x".utf8)), .stall,
        ])
        defer { server.stop() }
        let url = try RequestURL(server.url())
        #expect(ConnectionTable.hasConnection(to: url, at: .now) == false)
        let response = try await transport.send(makeRequest(server.url()))
        #expect(ConnectionTable.hasConnection(to: url, at: .now) == true)
        await #expect(throws: NetworkError.self) { try await response.body.collect(upTo: 1) }
    }

    @Test func `a request to a closed port fails`() async throws {
        let error = await expectFailure(.connectFailed) {
            try await transport.send(makeRequest("http://127.0.0.1:1/", method: .post))
        }
        #expect(error?.underlying?.code == NSURLErrorCannotConnectToHost)
    }

    @Test func `a body fails when the server is far ahead of the reader`() async throws {
        // A limited body: alongside other suites, a flood delays URLSession's cancellation for long.
        let head = Script.head(200, fields: [("Content-Length", "100000000")])
        let server = try ScriptedServer([.read, .send(head + Data(count: 4 << 20)), .stall])
        defer { server.stop() }
        let response = try await transport.send(makeRequest(server.url()) { $0.maximumBodyBytes = 500_000 })
        // Nothing reads the body, and the exchange ends on its own.
        try await server.wait { $0.connectionsEndedByPeer == 1 }
        var chunks = response.body.makeAsyncIterator()
        #expect(try #require(try await chunks.next()).count <= 500_000)
        let error = await expectFailure(.bodyTooLarge) { try await chunks.next() }
        #expect(error?.exchange?.transport == "urlsession")
        #expect(try await chunks.next() == nil)
    }
}
