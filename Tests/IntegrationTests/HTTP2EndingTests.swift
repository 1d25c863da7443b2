import Foundation
import HTTPTypes
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

    /// Regression: libcurl keeps such a connection, and the next POST went out over it.
    @Test(.curlSpeaksHTTP2, .enabled(if: Peers.http2 != nil, Peers.absence(of: Peers.http2Variable)))
    func `a connection with an invalid frame serves no other request`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        @Sendable func post(_ path: String, within timeout: Duration = .seconds(30)) async throws -> String {
            var request = TransportRequest(
                method: .post, url: try RequestURL(try #require(Peers.http2) + path), body: .bytes(Data("x".utf8)))
            request.options.trustPeers()
            request.options.httpVersion = .http2
            request.options.totalTimeout = timeout
            return String(decoding: try await dispatcher.send(request).body.collect(), as: UTF8.self)
        }
        for _ in 0..<3 {
            #expect(try await post("/ok") == "ok")
            // libcurl 8.4 does not report the frame.
            await #expect(throws: NetworkError.self) { _ = try await post("/refuse/broken", within: .seconds(5)) }
        }
        #expect(try await post("/ok") == "ok")
        await dispatcher.shutDown(within: .zero)
    }

    /// A stream that the server refuses was not executed (RFC 9113 §8.7).
    @Test(
        .curlSpeaksHTTP2, .enabled(if: Peers.http2 != nil, Peers.absence(of: Peers.http2Variable)),
        arguments: [HTTPRequest.Method.get, .post, .patch])
    func `a request whose stream was refused goes out again, whatever its method`(
        method: HTTPRequest.Method
    ) async throws {
        let dispatcher = CurlNetworkDispatcher()
        let mark = UUID().uuidString
        @Sendable func send(_ method: HTTPRequest.Method, _ path: String) async throws -> String {
            let url = try RequestURL(try #require(Peers.http2) + path)
            var request = TransportRequest(method: method, url: url)
            if method != .get { request.body = .bytes(Data("x".utf8)) }
            request.options.trustPeers()
            request.options.httpVersion = .http2
            request.options.totalTimeout = .seconds(30)
            return String(decoding: try await dispatcher.send(request).body.collect(), as: UTF8.self)
        }
        #expect(try await send(method, "/refuse-once/\(mark)") == "ok")
        #expect(try await send(.get, "/counted/\(mark)") == "2")
        await dispatcher.shutDown(within: .zero)
    }

    /// Regression: the log in which libcurl reports a refusal has the request's own texts too, and the request was sent
    /// 65 times.
    @Test(
        .curlSpeaksHTTP2, .enabled(if: Peers.http2 != nil, Peers.absence(of: Peers.http2Variable)),
        arguments: ["REFUSED_STREAM", "HTTP/2 stream 1 refused by server", "[HTTP/2] [1] REFUSED_STREAM, try again"])
    func `a request that speaks of a refusal was not refused`(words: String) async throws {
        let dispatcher = CurlNetworkDispatcher()
        let mark = UUID().uuidString
        @Sendable func send(_ method: HTTPRequest.Method, _ path: String) async throws -> String {
            let url = try RequestURL(try #require(Peers.http2) + path)
            var request = TransportRequest(method: method, url: url)
            if method == .post { request.body = .bytes(Data("x".utf8)) }
            request.headerFields[try #require(HTTPField.Name("X-Note"))] = words
            request.options.trustPeers()
            request.options.httpVersion = .http2
            request.options.totalTimeout = .seconds(30)
            let response = try await dispatcher.send(request)
            return String(decoding: try await response.body.collect(), as: UTF8.self)
        }
        #expect(try await send(.get, "/ok") == "ok")
        let error = await expectFailure(.connectionLost) {
            _ = try await send(.post, "/refuse/close?REFUSED_STREAM-\(mark)")
        }
        #expect(error.map { "\($0)".contains("not executed") } == false)
        #expect(try await send(.get, "/counted/\(mark)") == "1")
        await dispatcher.shutDown(within: .zero)
    }
}
