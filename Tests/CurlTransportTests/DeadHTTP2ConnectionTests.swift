import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// HTTP/2 connections that the peer has ended, in clear and with prior knowledge.
@Suite(
    "Dead HTTP/2 connections",
    .enabled(if: CurlNetworkDispatcher.shared.capabilities.supports(.http2), "needs HTTP/2: libcurl 8.1"),
    .patience(minutes: 1))
struct DeadHTTP2ConnectionTests {
    /// Returns a frame ([RFC 9113 §4.1](https://www.rfc-editor.org/rfc/rfc9113.html#section-4.1)) of up to 255 bytes.
    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> Data {
        Data([0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload)
    }

    private static let settings = frame(4) + frame(4, flags: 1)
    /// `:status: 200` by its index (RFC 7541), with the end of the stream.
    private static let ok = frame(1, flags: 5, stream: 1, [0x88])
    /// At most as many bytes as the client sends before it hears anything, after the first line of its preface: the
    /// rest of that, SETTINGS, WINDOW_UPDATE, and the start of HEADERS.
    private static let firstBytes = 66

    /// Regression: libcurl 8.23 keeps a connection that was reset in the middle of a response, and a body that can't be
    /// sent again was lost on it.
    @Test func `a connection that was reset serves no other request`() async throws {
        try await withServer(
            [.readHead, .send(Self.settings), .readBody(Self.firstBytes), .reset],
            [.readHead, .send(Self.settings), .readBody(Self.firstBytes), .send(Self.ok), .stall]
        ) { server in
            let dispatcher = CurlNetworkDispatcher()
            var request = TransportRequest(url: try RequestURL(server.url()))
            request.options.httpVersion = .http2PriorKnowledge
            request.options.totalTimeout = .seconds(30)
            await expectFailure(.connectionLost) { try await dispatcher.send(request) }
            request.method = .post
            request.body = .stream(
                AsyncStream { stream in
                    stream.yield(Data("once".utf8))
                    stream.finish()
                })
            #expect(try await dispatcher.send(request).status == .ok)
            #expect(server.connectionCount == 2)
            await dispatcher.shutDown(within: .zero)
        }
    }
}
