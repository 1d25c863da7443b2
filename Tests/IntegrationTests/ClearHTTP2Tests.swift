import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

extension Peers {
    static let clearHTTP2Variable = "NETWORKLAYER_NGHTTPD_URL"
    static let clearHTTP2 = ProcessInfo.processInfo.environment[clearHTTP2Variable]
}

/// HTTP/2 in clear text against nghttpd, which speaks nothing else there.
@Suite(.enabled(if: Peers.clearHTTP2 != nil, Peers.absence(of: Peers.clearHTTP2Variable)), .patience(minutes: 1))
struct ClearHTTP2Tests {
    private func url(_ path: String) throws -> RequestURL { try RequestURL(try #require(Peers.clearHTTP2) + path) }

    @Test(.curlSpeaksHTTP2) func `prior knowledge selects it, and many streams share a connection`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        try await withThrowingTaskGroup(of: Exchange.self) { group in
            let url = try url("/hello.txt")
            _ = try await Exchange(url, over: dispatcher) { $0.httpVersion = .http2PriorKnowledge }
            for _ in 0..<20 {
                group.addTask {
                    try await Exchange(url, over: dispatcher) { $0.httpVersion = .http2PriorKnowledge }
                }
            }
            var locals: Set<String?> = []
            for try await exchange in group {
                #expect(exchange.status == 200)
                #expect(exchange.text == "hello from nghttpd\n")
                #expect(exchange.metrics.httpVersion == "2")
                #expect(exchange.metrics.connectionReused == true)
                locals.insert(exchange.metrics.localAddress)
            }
            #expect(locals.count == 1)
        }
    }

    @Test(.curlSpeaksHTTP2) func `a body is sent and comes back unchanged`() async throws {
        let body = PatternBytes.make(count: 300_000)
        var request = TransportRequest(method: .post, url: try url("/echo"), body: .bytes(body))
        request.options.httpVersion = .http2PriorKnowledge
        request.options.totalTimeout = .seconds(30)
        let response = try await CurlNetworkDispatcher.shared.send(request)
        #expect(try await response.body.collect() == body)
    }

    @Test func `a connection for it can't be opened ahead`() async throws {
        var options = TransportOptions()
        options.httpVersion = .http2PriorKnowledge
        await expectFailure(.unsupported) {
            try await CurlNetworkDispatcher.shared.prewarm(url("/"), options: options)
        }
    }

    @Test(.curlSpeaksHTTP2) func `a server that speaks only HTTP 1 is an error`() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let url = try RequestURL(server.url())
        let error = await #expect(throws: NetworkError.self) {
            try await Exchange(url) {
                $0.httpVersion = .http2PriorKnowledge
                $0.totalTimeout = .seconds(5)
            }
        }
        #expect([.invalidResponse, .connectionLost, .totalTimeout].contains(error?.code))
    }

    @Test func `URLSession refuses it before anything is sent`() async throws {
        await expectFailure(.unsupported) {
            try await Exchange(url("/hello.txt"), over: URLSessionNetworkDispatcher.shared) {
                $0.httpVersion = .http2PriorKnowledge
            }
        }
    }
}
