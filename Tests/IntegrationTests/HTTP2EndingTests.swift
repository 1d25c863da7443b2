import Foundation
import NetworkLayer
import TestSupport
import Testing

/// Connections that nginx ends with GOAWAY after three requests each, while more than that are in flight. The streams
/// above the last one that it names were not executed (RFC 9113 §8.7).
@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 2))
struct HTTP2EndingTests {
    enum Kind: CaseIterable {
        case get, post, put, once

        var method: HTTPRequest.Method {
            switch self {
            case .get: .get
            case .put: .put
            case .post, .once: .post
            }
        }

        func body() -> TransportRequest.Body? {
            switch self {
            case .get: nil
            case .post: .bytes(Data(count: 100))
            case .put: .bytes(Data(count: 40_000))
            case .once:
                .stream(
                    AsyncStream { stream in
                        for _ in 0..<4 { stream.yield(Data(count: 500)) }
                        stream.finish()
                    })
            }
        }
    }

    private static let requests = 240

    /// Regression: 10 % of the POSTs failed as ones that may have been executed, and each request that waited opened a
    /// connection of its own: 642 descriptors for a limit of ten connections.
    @Test(.curlSpeaksHTTP2, arguments: Kind.allCases, [8, 40])
    func `no request fails because its connection has carried enough`(kind: Kind, inFlight: Int) async throws {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 100
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let url = try Peers.url(.http2Short)
        @Sendable func send() async throws -> String? {
            var request = TransportRequest(method: kind.method, url: url, body: kind.body())
            request.options.trustPeers()
            request.options.httpVersion = .http2
            request.options.totalTimeout = .seconds(90)
            let response = try await dispatcher.send(request)
            _ = try await response.body.collect()
            // `nil` while the rest of the body still goes out.
            #expect(response.status == .ok && ["2", nil].contains(response.metrics.httpVersion))
            return response.metrics.localAddress
        }
        let connections = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<inFlight { group.addTask { try await send() } }
            var begun = inFlight
            var seen: Set<String> = []
            while let address = try await group.next() {
                if let address { seen.insert(address) }
                guard begun < Self.requests else { continue }
                begun += 1
                group.addTask { try await send() }
            }
            return seen
        }
        // Each carries one to three of them.
        #expect(connections.count <= Self.requests * 3 / 4, "\(connections.count)")
        await dispatcher.shutDown(within: .zero)
    }
}
