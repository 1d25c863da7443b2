import Foundation
import HTTPTypes
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Kept TLS connections that break while a body goes out. OpenSSL takes a piece of the body at once and sends it record
/// by record; until all of it is sent, libcurl counts none of it.
@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 2))
struct TLSRepeatTests {
    enum Body: CaseIterable {
        case small, bytes, replayable, chunked, once

        var content: Data { self == .small ? Self.whole.prefix(60_000) : Self.whole }

        private static let whole = (0..<60_000).reduce(into: Data()) { $0 += "\(1_000_000_000 + $1)".utf8 }

        func body() -> TransportRequest.Body {
            let content = content
            let chunks = stride(from: 0, to: content.count, by: 20_000).map { content[$0..<$0 + 20_000] }
            return switch self {
            case .small, .bytes: .bytes(content)
            case .replayable: .replayable(chunks, length: content.count)
            case .chunked: .replayable(chunks)
            case .once: .once(chunks)
            }
        }
    }

    /// Regression: a repeated stream was stored without its beginning, or empty, as a 200; repeated bytes never came;
    /// and a POST of which the server had 16 KB went out twice.
    @Test(arguments: [HTTPRequest.Method.put, .post], Body.allCases)
    func `a repeated body is whole, or not repeated`(method: HTTPRequest.Method, kind: Body) async throws {
        // How much the system takes before the connection breaks is a matter of luck.
        for _ in 0..<5 { try await sendOverBreakingConnection(method, kind) }
    }

    private func sendOverBreakingConnection(_ method: HTTPRequest.Method, _ kind: Body) async throws {
        let server = try ScriptedServer(
            scripts: [[.read, .ok(), .readHead, .readBody(10_000), .reset], .ok()], segment: 536)
        defer { server.stop() }
        let front = try TLSFront(to: server, segment: 536)
        let dispatcher = CurlNetworkDispatcher()
        func send(_ method: HTTPRequest.Method, _ body: TransportRequest.Body?) async throws -> TransportMetrics {
            // Under a sanitizer and next to builds a repeat takes seconds; one that never ends is found too.
            try await Exchange(front.url, method, body: body, over: dispatcher) {
                $0.trustPeers()
                $0.httpVersion = .http1_1
            }.metrics
        }
        _ = try await send(.get, nil)
        if method == .post {
            await expectFailure(.connectionLost) { try await send(method, kind.body()) }
            #expect(server.requests.count { $0.method == method.rawValue } == 1)
        } else if kind == .once {
            // It is sent again while libcurl has taken no more than the start that is kept.
            do {
                _ = try await send(method, kind.body())
                #expect(server.requests.last?.body == kind.content)
            } catch let error as NetworkError {
                #expect(error.code == .connectionLost, "\(error)")
            }
        } else {
            let metrics = try await send(method, kind.body())
            #expect(metrics.repeats == 1)
            #expect(server.requests.last?.body == kind.content)
        }
        withExtendedLifetime(front) {}
    }
}
