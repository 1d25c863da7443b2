import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Heads that say where their body ends, and codings that libcurl removes before the transport sees the body.
@Suite("The framing of responses", .patience(minutes: 1))
struct ResponseFramingTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func body(of server: ScriptedServer, sending body: TransportRequest.Body? = nil) async throws -> String {
        var request = TransportRequest(url: try RequestURL(server.url()), body: body)
        if body != nil { request.method = .post }
        request.options.totalTimeout = .seconds(30)
        let response = try await dispatcher.send(request)
        var bytes = Data()
        for try await chunk in response.body { bytes.append(chunk) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        "gzip", "gzip, chunked", "chunked, deflate", "X-GZIP", "gzip,gzip,gzip,gzip,gzip", "br", ",,,,,chunked",
        "identity, chunked",
    ])
    func `no transfer coding but chunked is accepted`(codings: String) async throws {
        let packed = Gzip.stored(Data("hello".utf8))
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\ntransfer-Encoding: \(codings)\r\n\r\n"), .send(packed), .close,
        ])
        defer { server.stop() }
        let error = await #expect(throws: NetworkError.self) { try await body(of: server) }
        #expect(error?.code == .invalidContentEncoding)
    }

    /// Framing lines that two readers may interpret differently (RFC 9112 §5.1, §5.2).
    @Test(arguments: [
        "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", "Transfer-Encoding:", "Content-Length : 2",
    ])
    func `framing that can be read in two ways is refused`(lines: String) async throws {
        try await expectRefusal(of: lines)
    }

    @Test(
        .enabled(
            if: Libcurl.found.version < LibcurlVersion(8, 15), "newer libcurl versions unfold lines before parsing"),
        arguments: [
            "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: chunked\r\n , gzip", "Content-Length:\r\n 2",
            "Content-Length: 2\r\n 0",
        ])
    func `framing that is continued is refused`(lines: String) async throws { try await expectRefusal(of: lines) }

    private func expectRefusal(of lines: String) async throws {
        let server = try ScriptedServer(
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(lines)\r\n\r\n2\r\nhi\r\n0\r\n\r\n"))
        defer { server.stop() }
        let error = await #expect(throws: NetworkError.self) { try await body(of: server) }
        #expect(error.map { [.invalidResponse, .invalidContentEncoding].contains($0.code) } == true, "\(error as Any)")
    }

    @Test(arguments: ["chunked", "CHUNKED", " chunked \t"])
    func `chunks are taken`(coding: String) async throws {
        let server = try ScriptedServer(
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding:\(coding)\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
        defer { server.stop() }
        #expect(try await body(of: server) == "hello")
    }

    /// Transfer-Encoding overrides Content-Length (RFC 9112 §6.3), also while a body is being sent.
    @Test(arguments: [true, false])
    func `a content length next to chunks is no length`(isFolded: Bool) async throws {
        let gate = Gate()
        let fold = isFolded ? "X-Folded: a\r\n b\r\n" : ""
        try await withServer([
            .readHead,
            .send("HTTP/1.1 200 OK\r\n\(fold)Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
            .wait(until: gate), .send("6\r\n there\r\n0\r\n\r\n"), .stall,
        ]) { server in
            let (chunks, feed) = AsyncStream<Data>.makeStream()
            feed.yield(Data("part".utf8))
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()), body: .stream(chunks))
            request.options.totalTimeout = .seconds(30)
            let response = try await dispatcher.send(request)
            var iterator = response.body.makeAsyncIterator()
            var text = String(decoding: try #require(try await iterator.next()), as: UTF8.self)
            gate.open()
            feed.finish()
            while let chunk = try await iterator.next() { text += String(decoding: chunk, as: UTF8.self) }
            #expect(text == "hello there")
        }
    }
}
