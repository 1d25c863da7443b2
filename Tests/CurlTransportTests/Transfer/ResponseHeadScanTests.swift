import NetworkCore
import TestSupport
import Testing

@testable import CurlTransport

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
