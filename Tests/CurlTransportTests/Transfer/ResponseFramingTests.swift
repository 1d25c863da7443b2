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

    private func exchange(with response: Data) async throws -> Exchange {
        try await withServer(.raw(response)) { try await Exchange($0.url(), over: dispatcher) }
    }

    private func exchange(with response: String) async throws -> Exchange {
        try await exchange(with: Data(response.utf8))
    }

    @Test(arguments: [
        "gzip", "gzip, chunked", "chunked, deflate", "X-GZIP", "gzip,gzip,gzip,gzip,gzip", "br", ",,,,,chunked",
        "identity, chunked",
    ])
    func `no transfer coding but chunked is accepted`(codings: String) async throws {
        let head = Data("HTTP/1.1 200 OK\r\ntransfer-Encoding: \(codings)\r\n\r\n".utf8)
        await expectFailure(.invalidContentEncoding) {
            try await exchange(with: head + Gzip.stored(Data("hello".utf8)))
        }
    }

    /// Framing lines that two readers may interpret differently (RFC 9112 §5.1, §5.2).
    @Test(arguments: [
        "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", "Transfer-Encoding:", "Content-Length : 2",
    ])
    func `framing that can be read in two ways is refused`(lines: String) async throws {
        await expectRefusal(of: lines)
    }

    @Test(
        .enabled(
            if: Libcurl.found.version < LibcurlVersion(8, 15), "newer libcurl versions unfold lines before parsing"),
        arguments: [
            "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: chunked\r\n , gzip", "Content-Length:\r\n 2",
            "Content-Length: 2\r\n 0",
        ])
    func `framing that is continued is refused`(lines: String) async throws { await expectRefusal(of: lines) }

    private func expectRefusal(of lines: String) async {
        let error = await #expect(throws: NetworkError.self) {
            try await exchange(with: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(lines)\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
        }
        #expect(error.map { [.invalidResponse, .invalidContentEncoding].contains($0.code) } == true, "\(error as Any)")
    }

    @Test(arguments: ["chunked", "CHUNKED", " chunked \t"])
    func `chunks are taken`(coding: String) async throws {
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding:\(coding)\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        #expect(try await exchange(with: response).text == "hello")
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
            let response = try await dispatcher.start(server.url(), body: .stream(chunks))
            var iterator = response.body.makeAsyncIterator()
            var text = String(decoding: try #require(try await iterator.next()), as: UTF8.self)
            gate.open()
            feed.finish()
            while let chunk = try await iterator.next() { text += String(decoding: chunk, as: UTF8.self) }
            #expect(text == "hello there")
        }
    }

    // MARK: A field whose name looks like a status line begins no other head

    @Test func `a second head leaves the status alone`() async throws {
        let exchange = try await exchange(
            with: "HTTP/1.1 500 No\r\nX-A: 1\r\nHTTP/1.1 200 OK: x\r\nX-B: 2\r\nContent-Length: 2\r\n\r\nno")
        #expect(exchange.status == 500 && exchange.text == "no")
        #expect(exchange.response.head.headerFields.map(\.name.rawName).contains("X-A"))
    }

    @Test func `lengths before it count too`() async throws {
        await expectFailure(.invalidResponse) {
            try await exchange(
                with: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nHTTP/1.1 200 OK: x\r\nContent-Length: 2\r\n\r\nhi")
        }
    }

    @Test func `lines are counted on`() async throws {
        let lines = String(repeating: "HTTP/1.1 200 OK: x\r\n", count: ResponseState.maximumHeaderLines + 1)
        await expectFailure(.responseHeadTooLarge) {
            try await exchange(with: "HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")
        }
    }

    @Test func `a head in the trailers of an empty body is a trailer`() async throws {
        let exchange = try await exchange(
            with: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHTTP/1.1 500 No: x\r\n\r\n")
        #expect(exchange.status == 200 && exchange.text == "")
    }

    /// Interim responses, rounds of authentication, and repeats begin heads of their own.
    @Test func `a head begins where one may`() {
        let start = MonotonicTime(nanoseconds: 1)
        var state = ResponseState(now: start)
        func receive(_ lines: String...) -> String {
            for line in lines { _ = state.receive(headerLine: Array((line + "\r\n").utf8), at: start) }
            return String(decoding: state.head.bytes.dropFirst(9).prefix(3), as: UTF8.self)
        }
        state.goesOut(at: start)
        #expect(receive("HTTP/1.1 103 Early", "HTTP/1.1 200 OK: field", "", "HTTP/1.1 401 No", "") == "401")
        #expect(receive("HTTP/1.1 200 OK", "") == "401")
        state.goesOut(at: start)
        #expect(receive("HTTP/1.1 200 OK", "") == "200" && state.head.hasFinalHead)
    }
}
