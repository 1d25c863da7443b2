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
            case .once: .once(Array(repeating: Data(count: 500), count: 4))
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
            let exchange = try await Exchange(url, kind.method, body: kind.body(), over: dispatcher) {
                $0.trustPeers()
                ($0.httpVersion, $0.totalTimeout) = (.http2, .seconds(90))
            }
            // `nil` while the rest of the body still goes out.
            #expect(exchange.status == 200 && ["2", nil].contains(exchange.metrics.httpVersion))
            return exchange.metrics.localAddress
        }
        // As many are in flight at any time.
        let addresses = try await atOnce(inFlight) { _ in
            var addresses: [String?] = []
            for _ in 0..<Self.requests / inFlight { addresses.append(try await send()) }
            return addresses
        }
        let connections = Set(addresses.joined().compactMap(\.self))
        // Each carries one to three of them.
        #expect(connections.count <= Self.requests * 3 / 4, "\(connections.count)")
    }
}

/// Connections and streams that `scripts/peers/http2.py` ends, and what was executed of them.
@Suite(.enabled(if: Peers.http2 != nil, Peers.absence(of: Peers.http2Variable)), .patience(minutes: 2))
struct HTTP2RefusalTests {
    private let mark = UUID().uuidString
    private let body = TransportRequest.Body.bytes(Data("x".utf8))

    /// Regression: libcurl keeps such a connection, and the next POST went out over it.
    @Test(.curlSpeaksHTTP2) func `a connection with an invalid frame serves no other request`() async throws {
        let client = try HTTP2Client(Peers.http2)
        for _ in 0..<3 {
            #expect(try await client.send("/ok", method: .post, body: body).text == "ok")
            // libcurl 8.4 does not report the frame.
            await #expect(throws: NetworkError.self) {
                try await client.send("/refuse/broken", method: .post, body: body, within: .seconds(5))
            }
        }
        #expect(try await client.send("/ok", method: .post, body: body).text == "ok")
    }

    /// A stream that the server refuses was not executed (RFC 9113 §8.7).
    @Test(.curlSpeaksHTTP2, arguments: [HTTPRequest.Method.get, .post, .patch])
    func `a request whose stream was refused goes out again, whatever its method`(
        method: HTTPRequest.Method
    ) async throws {
        let client = try HTTP2Client(Peers.http2)
        let body = method == .get ? nil : body
        #expect(try await client.send("/refuse-once/\(mark)", method: method, body: body).text == "ok")
        #expect(try await client.send("/counted/\(mark)").text == "2")
    }

    /// Regression: the log in which libcurl reports a refusal has the request's own texts too, and the request was sent
    /// 65 times.
    @Test(
        .curlSpeaksHTTP2,
        arguments: ["REFUSED_STREAM", "HTTP/2 stream 1 refused by server", "[HTTP/2] [1] REFUSED_STREAM, try again"])
    func `a request that speaks of a refusal was not refused`(words: String) async throws {
        let client = try HTTP2Client(Peers.http2)
        let fields: HTTPFields = [try #require(HTTPField.Name("X-Note")): words]
        #expect(try await client.send("/ok", fields: fields).text == "ok")
        let error = await expectFailure(.connectionLost) {
            try await client.send(
                "/refuse/close?REFUSED_STREAM-\(mark)", method: .post, body: body, fields: fields)
        }
        #expect(error.map { "\($0)".contains("not executed") } == false)
        #expect(try await client.send("/counted/\(mark)", fields: fields).text == "1")
    }
}
