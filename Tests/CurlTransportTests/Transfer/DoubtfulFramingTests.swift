import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// A peer between the client and the server, or the server itself, may see the end of a response elsewhere than libcurl
/// does. What that peer takes for the rest of the body would become the response to the next request; through a shared
/// proxy, to a request for another host.
@Suite("Connections after responses with ambiguous framing", .patience(minutes: 1))
struct DoubtfulFramingTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func get(_ server: ScriptedServer, through proxy: Bool, host: String = "one") async throws -> String {
        try await Exchange(proxy ? "http://\(host).test/" : server.url(), over: dispatcher) {
            if proxy { $0.proxy = .server(server.baseURL) }
        }.text
    }

    /// Expects that a server's first response is what it has to be, and that the next request gets an honest one. The
    /// server sends a forged response as soon as there is another request on the first connection.
    private func expectNoConnection(
        after response: String, through proxy: Bool = false,
        _ check: (_ first: () async throws -> String) async throws -> Void
    ) async throws {
        try await withServer(
            [.read, .send(response), .read, .ok("forged"), .stall], .ok("honest")
        ) { server in
            try await check { try await get(server, through: proxy) }
            #expect(try await get(server, through: proxy, host: "other") == "honest")
            #expect(server.connectionCount == 2)
        }
    }

    private static let refused = [
        "Content-Length: 66\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 66", "Content-Length: 5, 66",
        "Content-Length: 5 66", "Content-Length: 5x", "Content-Length: +5", "Content-Length: 0x5", "Content-Length: -1",
        "Content-Length: 5,", "Content-Length: ,5", "Content-Length:", "Content-Length: 5\u{B}", "Content-Length: 5;a",
        "Content-Length: 99999999999999999999", "Content-Length : 5", "Content-Length\t: 5", "Content-Length 5",
        "Content-Length: 5\r\r", "Content-Length: 5.0", "Content-Length: \"5\"",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: \u{B}chunked", "Transfer-Encoding: chunked\u{B}", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked;q=1", "Transfer-Encoding: \"chunked\"", "Transfer-Encoding:",
        "Transfer-Encoding : chunked", "Transfer-Encoding: gzip, chunked",
    ]

    @Test(arguments: refused, [false, true])
    func `a refused response leaves no connection behind`(lines: String, isProxied: Bool) async throws {
        let body = lines.contains("chunked") ? "5\r\nhello\r\n0\r\n\r\n" : "hello"
        try await expectNoConnection(after: "HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n\(body)", through: isProxied) { first in
            let error = await #expect(throws: NetworkError.self) { try await first() }
            let codes: [NetworkError.Code] = [.invalidResponse, .invalidContentEncoding]
            #expect(error.map { codes.contains($0.code) } == true, "\(error as Any)")
        }
    }

    /// Lines that the head parser rejects as status lines, even where libcurl accepts them.
    @Test(
        arguments: [
            "http/1.1 200 OK", "HTTP/1.1 099 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 200OK",
            "HTTP/1.1  200 OK", "HTTP/1.1 100 Go on\r\n\r\nhttp/1.1 200 OK", "HTTP/2 200", "HTTP/2 200 OK",
            "HTTP/2.0 200 OK", "HTTP/3 200 OK", "HTTP/0.9 200 OK", "HTTP/11 200 OK", "HTTP/1 200 OK",
            "HTTP/1.1 100 Go on\r\n\r\nHTTP/2 200",
        ], [false, true])
    func `a refused status line leaves no connection behind`(line: String, isProxied: Bool) async throws {
        try await expectNoConnection(after: "\(line)\r\nContent-Length: 5\r\n\r\nhello", through: isProxied) { first in
            await #expect(throws: NetworkError.self) { try await first() }
        }
    }

    private static let taken = [
        "HTTP/1.1 200 OK\r\nContent-Length: 66\r\nTransfer-Encoding: chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: , chunked",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5",
        "HTTP/1.1 204 No Content\r\nContent-Length: 5", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked",
        "HTTP/1.1 103 Hints\r\nContent-Length: 66\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nProxy-Connection: keep-alive\r\nContent-Length: 5",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 66\r\nTransfer-Encoding: chunked",
    ]

    @Test(arguments: taken, [false, true])
    func `a doubtful response that is taken leaves no connection behind`(head: String, isProxied: Bool) async throws {
        let isEmpty = head.contains(" 204 ")
        let body = isEmpty ? "" : head.contains("chunked") ? "5\r\nhello\r\n0\r\n\r\n" : "hello"
        try await expectNoConnection(after: "\(head)\r\n\r\n\(body)", through: isProxied) { first async throws in
            #expect(try await first() == (isEmpty ? "" : "hello"))
        }
    }

    /// Newer libcurl versions refuse it.
    @Test func `a CR within a line leaves no connection behind`() async throws {
        let response = "HTTP/1.1 200 OK\r\nX-A: a\rContent-Length: 66\r\nContent-Length: 5\r\n\r\nhello"
        try await expectNoConnection(after: response) { first async throws in
            do { #expect(try await first() == "hello") } catch let error as NetworkError {
                #expect(error.code == .invalidResponse)
            }
        }
    }

    /// Newer libcurl versions unfold lines before passing them to callbacks.
    @Test(.enabled(if: Libcurl.found.version < LibcurlVersion(8, 15)))
    func `a continued line leaves no connection behind`() async throws {
        let response = "HTTP/1.1 200 OK\r\nX-A: a\r\n Content-Length: 66\r\nContent-Length: 5\r\n\r\nhello"
        try await expectNoConnection(after: response) { first async throws in #expect(try await first() == "hello") }
    }

    /// A connection is kept when the framing is unambiguous.
    @Test(arguments: [
        "200 OK\r\nContent-Length: 5", "200 OK\r\nTransfer-Encoding: Chunked \t", "204 No Content",
        "304 Not Modified\r\nContent-Length: 66", "200 OK\r\nContent-Length:5\t", "204 No Content\r\nContent-Length: 0",
        "103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5",
    ])
    func `a well framed response keeps its connection`(head: String) async throws {
        let body = head.contains("hunked") ? "5\r\nhello\r\n0\r\n\r\n" : head.contains("200") ? "hello" : ""
        try await withServer([.forEachRequest([.send("HTTP/1.1 \(head)\r\n\r\n\(body)")])]) { server async throws in
            for _ in 0..<2 { #expect(try await get(server, through: false) == (body.isEmpty ? "" : "hello")) }
            #expect(server.connectionCount == 1)
        }
    }

    /// Regression: libcurl refused a chunked body over a kept connection whose peer had spoken HTTP/1.0.
    @Test func `after HTTP/1.0, a body of unknown length goes out`() async throws {
        let old = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"
        try await withServer([.read, .send(old), .stall], .ok("taken")) { server in
            #expect(try await get(server, through: false) == "hello")
            let exchange = try await Exchange(server.url(), .put, over: dispatcher, body: .once("part"))
            #expect(exchange.text == "taken")
            #expect(server.requests.last?.body == Data("part".utf8))
        }
    }

    /// The caller's side must accept every head that the loop accepted: by then its connection may be back in the pool.
    @Test func `heads that the loop takes, the caller's side takes`() {
        var random = SeededGenerator(seed: 3)
        let status = [
            "HTTP/1.1 200 OK", "HTTP/1.0 404", "HTTP/2 204 ", "http/1.1 200 OK", "HTTP/1.1 2000", "HTTP/1.1 99 x",
            "HTTP/1.1\t200 OK", "HTTP/1.1 +200", "HTTP/1.1 200OK", "HTTP/1.1  200", "HTTP/1.1 \t200", "HTTP/1.1", "",
            "HTTP/1.1 \u{0}200", "HTTP/1.1 200\tOK", "HTTP/1.1 200\r", "HTTP/1.1 -10", "HTTP/1.1 1.2",
        ]
        let names = [
            "Content-Length", "content-length", "Transfer-Encoding", "Content-Encoding", "X-A", "Content\rLength",
        ]
        let separators = [":", ": ", " : ", "\t:", "", ":\t"]
        let values = [
            "5", "66", "5, 5", "5, 66", "+5", "-1", "0x5", "", ",", "5,", "chunked", "identity", "gzip", "5\r", "5 ",
            "99999999999999999999", "9223372036854775807", "005", "5\u{B}", "5\u{0}", "\u{A0}5", "٥",
        ]
        var taken = 0
        for _ in 0..<20_000 {
            var lines = [status.randomElement(using: &random) ?? ""]
            if Bool.random(using: &random) { lines[0] = status[0] }
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let isContinued = Int.random(in: 0..<8, using: &random) == 0
                lines.append(
                    (isContinued ? " " : names.randomElement(using: &random) ?? "")
                        + (separators.randomElement(using: &random) ?? "")
                        + (values.randomElement(using: &random) ?? ""))
            }
            expectOneFraming(of: lines.map { Array("\($0)\r\n".utf8) })
            var state = ResponseState(now: .now)
            let verdicts = (lines + [""]).map { state.receive(headerLine: Array("\($0)\r\n".utf8), at: .now) }
            guard !verdicts.contains(.stop), state.head.hasFinalHead else { continue }
            taken += 1
            #expect(throws: Never.self, "\(lines)") { try ReceivedHead(state.wholeHead) }
        }
        #expect(taken > 1_000)
    }

    /// The scan of a plain head stands for the judgement of its lines.
    private func expectOneFraming(of lines: [[UInt8]]) {
        let head = lines.joined() + Array("\r\n".utf8)
        guard let scan = ResponseHeadScan(head) else { return }
        let judged = [scan, nil].map { scan in
            var framing = ResponseFraming()
            let fault = framing.begin(lines[0]) ?? framing.fault(inFieldsOf: head, scanned: scan)
            return (fault, framing.isDoubtful, framing.mayHideSurplus)
        }
        #expect(judged[0] == judged[1], "\(lines.map { String(decoding: $0, as: UTF8.self) })")
    }
}
