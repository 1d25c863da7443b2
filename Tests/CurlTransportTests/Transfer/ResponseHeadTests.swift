import NetworkCore
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Heads of responses")
struct ResponseHeadTests {
    private func buffer(_ lines: [String]) -> ResponseHeadBuffer {
        var buffer = ResponseHeadBuffer()
        for line in lines {
            let bytes = Array((line + "\r\n").utf8)
            #expect(buffer.append(line: bytes, begins: line.hasPrefix("HTTP/")) == true)
        }
        return buffer
    }

    private func parse(_ text: String) throws -> HTTPResponse { try ResponseHeadParser.parse(Array(text.utf8)) }

    @Test func `the final head is whole after its blank line`() {
        #expect(!buffer(["HTTP/1.1 200 OK", "A: 1"]).hasFinalHead)
        #expect(buffer(["HTTP/1.1 200 OK", "A: 1", ""]).hasFinalHead)
    }

    @Test(arguments: ["HTTP/1.1 100 Continue", "HTTP/1.1 103 Early Hints", "HTTP/2 103"])
    func `interim heads do not count`(statusLine: String) throws {
        let early = buffer([statusLine, "Link: </a.css>", ""])
        #expect(!early.hasFinalHead)
        let both = buffer([statusLine, "Link: </a.css>", "", "HTTP/1.1 204 No Content", "B: 2", ""])
        #expect(both.hasFinalHead)
        let response = try ResponseHeadParser.parse(both.bytes)
        #expect(response.status == .noContent)
        #expect(response.headerFields.map(\.name.rawName) == ["B"])
    }

    @Test
    func `switching protocols is final`() { #expect(buffer(["HTTP/1.1 101 Switching Protocols", ""]).hasFinalHead) }

    @Test func `another round of authentication replaces the first`() throws {
        let rounds = buffer(["HTTP/1.1 401 No", "WWW-Authenticate: Digest", "", "HTTP/1.1 200 OK", "A: 1", ""])
        let response = try ResponseHeadParser.parse(rounds.bytes)
        #expect(response.status == .ok)
        #expect(response.headerFields.count == 1)
    }

    @Test func `trailers are not part of the head`() throws {
        var head = buffer(["HTTP/1.1 200 OK", ""])
        #expect(head.append(line: Array("Grpc-Status: 0\r\n".utf8), begins: false) == true)
        #expect(head.append(line: Array("HTTP/1.1 500 Trick\r\n".utf8), begins: false) == true)
        let response = try ResponseHeadParser.parse(head.bytes)
        #expect(response.status == .ok)
        #expect(response.headerFields.isEmpty)
    }

    @Test func `a head without end is refused`() {
        var head = buffer(["HTTP/1.1 200 OK"])
        let line = Array(("X: " + String(repeating: "a", count: 1000) + "\r\n").utf8)
        var taken = 0
        while head.append(line: line, begins: false) { taken += 1 }
        #expect(taken < 300)
        #expect(head.bytes.count <= ResponseHeadBuffer.maximumBytes)
    }

    /// A server that works for long may send many interim responses; one that never stops must not hold a request
    /// indefinitely.
    @Test func `endless interim heads are refused`() {
        var head = ResponseHeadBuffer()
        var taken = 0
        while taken < 100_000, head.append(line: Array("HTTP/1.1 102 Processing\r\n".utf8), begins: true),
            head.append(line: Array("\r\n".utf8), begins: false)
        {
            taken += 1
        }
        #expect(taken == ResponseHeadBuffer.maximumHeads && head.hasTooManyHeads && !head.hasFinalHead)
        var state = ResponseState(now: .distantFuture)
        var verdict = ResponseState.HeaderVerdict.proceed
        for _ in 0...ResponseHeadBuffer.maximumHeads where verdict == .proceed {
            verdict = state.receive(headerLine: Array("HTTP/1.1 103 Early Hints\r\n".utf8), at: .distantFuture)
            if verdict == .proceed { verdict = state.receive(headerLine: Array("\r\n".utf8), at: .distantFuture) }
        }
        #expect(verdict == .stop)
        let error = state.failure as? NetworkError
        #expect(error?.code == .responseHeadTooLarge && error?.message.contains("heads") == true)
    }

    @Test func `many interim heads and the final one are taken`() {
        let interim = Array(repeating: ["HTTP/1.1 102 Processing", ""], count: ResponseHeadBuffer.maximumHeads - 1)
        #expect(buffer(interim.flatMap(\.self) + ["HTTP/1.1 200 OK", ""]).hasFinalHead)
    }

    /// Copying the value for each of its lines would be quadratic; a value that grows in place moves only when its
    /// capacity doubles.
    @Test func `a folded value grows in place`() throws {
        let bytes = Array("a\r\n b".utf8)
        var last: ResponseHeadParser.Field? = .init(name: .accept, value: 0..<1)
        var (moves, place) = (0, UInt(0))
        let folds = 85_000
        for _ in 0..<folds {
            last?.fold(4..<5, of: bytes)
            let now = last?.place ?? 0
            if now != place { (moves, place) = (moves + 1, now) }
        }
        #expect(last?.folded.count == 1 + 2 * folds)
        #expect(moves < 64)
    }

    @Test func `a head of folds alone is read`() throws {
        let folds = (ResponseHeadBuffer.maximumBytes - 30) / 4
        let response = try parse("HTTP/1.1 200 OK\r\nA: b\r\n" + String(repeating: " c\r\n", count: folds) + "\r\n")
        #expect(response.headerFields.map(\.value.utf8.count) == [1 + 2 * folds])
    }

    @Test(arguments: [
        ("HTTP/1.1 200", 200, ""), ("HTTP/1.1 200 ", 200, ""), ("HTTP/2 404 ", 404, ""),
        ("HTTP/1.1 418 I'm a teapot", 418, "I'm a teapot"), ("HTTP/1.0 599 Odd", 599, "Odd"),
    ])
    func `status lines may lack a reason`(line: String, code: Int, reason: String) throws {
        let response = try parse(line + "\r\n\r\n")
        #expect(response.status.code == code)
        #expect(response.status.reasonPhrase == reason)
    }

    @Test(arguments: [
        "", "\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n", "220 ready\r\n",
    ])
    func `a line that is no status line is refused`(text: String) {
        #expect(throws: NetworkError.self) { try parse(text) }
    }

    @Test(arguments: [
        // Fields keep their order, their case and their repetitions.
        (
            "HTTP/1.1 200 OK\r\nb: 1\r\nSet-Cookie: a=1, x\r\nA: 2\r\nset-cookie: b=2\r\n\r\n",
            ["b: 1", "Set-Cookie: a=1, x", "A: 2", "set-cookie: b=2"]
        ),
        // Sloppy lines are read.
        (
            "HTTP/1.1 200 OK\nA:1\nB:\t 2 \t\n: no name\nno colon\nbad name: 3\nC:\n\n", ["A: 1", "B: 2", "C: "]
        ),
        // Folded values are joined.
        (
            "HTTP/1.1 200 OK\r\nA: one\r\n  two\r\n\tthree\r\nB: 4\r\n\r\n", ["A: one two three", "B: 4"]
        ),
        ("HTTP/1.1 200 OK\r\n lost\r\nA:\r\n \r\n\tb\r\n\r\n", ["A: b"]),
    ])
    func `fields are read`(head: String, fields: [String]) throws {
        #expect(try parse(head).headerFields.map { "\($0.name.rawName): \($0.value)" } == fields)
    }

    @Test func `bytes that are not UTF-8 are Latin-1`() throws {
        let response = try ResponseHeadParser.parse(
            Array("HTTP/1.1 200 OK\r\nA: caf".utf8) + [0xE9] + Array("\r\nB: café\r\n\r\n".utf8))
        #expect(response.headerFields.map(\.value) == ["café", "café"])
    }

    @Test func `two different lengths are refused, and too many fields`() {
        for lengths in ["5\r\nContent-Length: 6", "5, 6"] {
            expectFailure(.invalidResponse) { try parse("HTTP/1.1 200 OK\r\nContent-Length: \(lengths)\r\n\r\n") }
        }
        #expect(throws: Never.self) { try parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n") }
        let many = "HTTP/1.1 200 OK\r\n" + String(repeating: "a:1\r\n", count: 70_000) + "\r\n"
        expectFailure(.responseHeadTooLarge) { try parse(many) }
    }

    @Test func `random bytes never trap`() {
        var random = SeededGenerator(seed: 3)
        let alphabet = Array("HTTP/1.1 200\r\n\t :;,aZ\u{0}\u{FF}é".utf8) + [0xFF, 0xC0, 0x80]
        for _ in 0..<5_000 {
            let length = Int.random(in: 0..<80, using: &random)
            let bytes = (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
            _ = try? ResponseHeadParser.parse(Array("HTTP/1.1 200 OK\r\n".utf8) + bytes)
            _ = try? ResponseHeadParser.parse(bytes)
        }
    }
}

extension ResponseHeadParser.Field {
    /// The address of the value in memory.
    fileprivate var place: UInt { folded.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
}

@Suite("The quick scan of heads")
struct ResponseHeadScanTests {
    private func scan(_ text: String) -> ResponseHeadScan? { ResponseHeadScan(Array(text.utf8)) }

    @Test func `a plain head tells status, length and encoding`() throws {
        let plain = try #require(
            scan("HTTP/1.1 200 OK\r\nServer: x\r\ncontent-LENGTH: 17\r\nContent-Type: a/b\r\n\r\n"))
        #expect(plain.status == .ok)
        #expect(plain.contentLength == 17)
        #expect(!plain.isEncoded)
        let packed = try #require(scan("HTTP/2 404 \r\nContent-Encoding: gzip\r\n\r\n"))
        #expect(packed.status == .init(code: 404, reasonPhrase: ""))
        #expect(packed.contentLength == nil)
        #expect(packed.isEncoded)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nA: 1\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 7\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 200OK\r\n\r\n",
        "HTTP/1.1 200 caf\u{E9}\r\n\r\n", "220 ready\r\n", "", "\r\n\r\n",
    ])
    func `anything unusual is left to the parser`(text: String) { #expect(scan(text) == nil) }

    @Test func `a name that only looks like one is not taken`() throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Lengthy: 5\r\nContent\rLength: 6\r\nTransfer-Encoding-Not: a\r\n\r\n"
        let found = try #require(scan(head))
        #expect(found.contentLength == nil && !found.isTransferEncoded)
    }

    @Test func `a head that passes is read as the parser reads it`() throws {
        var random = SeededGenerator(seed: 21)
        let pieces = [
            "HTTP/1.1 200 OK", "HTTP/2 404", "Content-Length: 5", "content-length:6", "Content-Encoding: br", "A: b",
            "ETag: \"x\"",
            " folded", "no colon", "Content-Length: 5,5", "x: caf\u{E9}", "date: today", "Set-Cookie: a=b", ":", "",
        ]
        var passed = 0
        for _ in 0..<3_000 {
            let count = Int.random(in: 1..<7, using: &random)
            let lines = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }
            let bytes = Array(("HTTP/1.1 200 OK\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
            guard let scan = ResponseHeadScan(bytes) else { continue }
            passed += 1
            let whole = try ResponseHeadParser.parse(bytes)
            #expect(ResponseHeadParser.read(bytes, scanned: scan) == whole)
            #expect(scan.status == whole.status)
            #expect(try scan.contentLength == whole.headerFields.announcedLength())
            #expect(scan.isEncoded == whole.headerFields.contains(.contentEncoding))
        }
        #expect(passed > 500)
    }
}
