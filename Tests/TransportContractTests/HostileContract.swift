import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Responses that break the rules of HTTP.
@Suite(.patience(minutes: 1))
struct HostileContract {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    // MARK: Chunks

    private static let chunks: [ContractCase] =
        [
            .init("no size", chunked + "\r\nabc\r\n0\r\n\r\n", .failure(.invalidResponse)),
            .init("a negative size", chunked + "-3\r\nabc\r\n0\r\n\r\n", .failure(.invalidResponse)),
            .init("a plus sign", chunked + "+3\r\nabc\r\n0\r\n\r\n", .failure(.invalidResponse)),
            .init("a prefix", chunked + "0x3\r\nabc\r\n0\r\n\r\n", .failure(.invalidResponse)),
            .init("a space before the size", chunked + " 3\r\nabc\r\n0\r\n\r\n", .failure(.invalidResponse)),
            .init("a space after the size", chunked + "3 \r\nabc\r\n0\r\n\r\n", .response(200, "abc")),
            .init("a size beyond 64 bits", chunked + "FFFFFFFFFFFFFFFFF\r\nabc", .failure(.invalidResponse)),
            .init("a size of 64 bits", chunked + "FFFFFFFFFFFFFFFF\r\nabc", .failure(.invalidResponse)),
            .init("a size of 63 bits", chunked + "7FFFFFFFFFFFFFFF\r\nabc", .failure(.truncatedBody)),
            .init("many zeros", chunked + "\(String(repeating: "0", count: 30))3\r\nabc", .failure(.invalidResponse)),
            .init("no line end after the data", chunked + "3\r\nabc0\r\n\r\n", .failure(.invalidResponse)),
            .init("more data than the size", chunked + "3\r\nabcdef\r\n0\r\n\r\n", .failure(.invalidResponse)),
            .init("LF alone", chunked + "3\nabc\n0\n\n", .response(200, "abc")),
            .init("CR alone", chunked + "3\rabc\r0\r\r", .failure(.truncatedBody)),
            .init("closed at once", chunked, .failure(.truncatedBody)),
            .init("closed in the size", chunked + "3", .failure(.truncatedBody)),
            .init("closed after the size", chunked + "3\r\n", .failure(.truncatedBody)),
            .init("closed in the data", chunked + "3\r\nab", .failure(.truncatedBody)),
            .init("closed before the last chunk", chunked + "3\r\nabc\r\n", .failure(.truncatedBody)),
            .init("closed in the last chunk", chunked + "3\r\nabc\r\n0\r\n", .failure(.truncatedBody)),
            .init(
                "bytes after the end", chunked + "3\r\nabc\r\n0\r\n\r\nHTTP/1.1 500 x\r\n\r\n", .response(200, "abc")),
            .init(
                "a long extension",
                chunked + "3;\(String(repeating: "e", count: 1 << 20))\r\nabc\r\n0\r\n\r\n", .response(200, "abc")),
            .init(
                "a length after it",
                ok + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                .response(200, "abc")),
            .init("an unknown coding", ok + "Transfer-Encoding: odd\r\n\r\nabc", .failure(.invalidContentEncoding)),
        ]
        // RFC 9112 §6.3: the coding frames the body.
        + [1, 3, 5, 1_000_000_000].map { length in
            .init(
                "a length of \(length) before it",
                ok + "Content-Length: \(length)\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                .response(200, "abc"))
        }

    @Test(arguments: ContractTransport.all, chunks)
    func `hostile chunks are an error in time`(transport: ContractTransport, hostile: ContractCase) async throws {
        try await hostile.check(over: transport)
    }

    // MARK: Lengths

    private static func length(_ lines: String, _ body: String = "abc") -> String {
        ok + "Content-Length: \(lines)\r\n\r\n" + body
    }

    private static let lengths: [ContractCase] = [
        .init("too long", length("10"), .failure(.truncatedBody)),
        .init("too short", length("2"), .response(200, "ab")),
        .init("twice the same", length("3\r\nContent-Length: 3"), .response(200, "abc")),
        .init("a list of the same", length("3, 3"), .response(200, "abc")),
        .init("a list of two", length("3, 2"), .failure(.invalidResponse)),
        .init(
            "two", length("3\r\nContent-Length: 2"), .failure(.invalidResponse), exclusion: .conflictingLengths
        ),
        .init("empty", length(""), .failure(.invalidResponse)),
        .init("a plus sign", length("+3"), .failure(.invalidResponse)),
        .init("a minus sign", length("-3"), .failure(.invalidResponse)),
        .init("hexadecimal", length("0x3"), .failure(.invalidResponse)),
        .init("a fraction", length("3.0"), .failure(.invalidResponse)),
        .init("two numbers", length("3 3"), .failure(.invalidResponse)),
        .init("letters after it", length("3a"), .failure(.invalidResponse)),
        .init("beyond 64 bits", length("99999999999999999999"), .failure(.invalidResponse)),
        .init("the largest", length("9223372036854775807"), .failure(.bodyTooLarge), exclusion: .enormousLength),
        .init("on 204", "HTTP/1.1 204 x\r\nContent-Length: 3\r\n\r\nabc", .response(204, "")),
        .init("on 304", "HTTP/1.1 304 x\r\nContent-Length: 3\r\n\r\nabc", .response(304, "")),
    ]

    @Test(arguments: ContractTransport.all, lengths)
    func `a hostile length is an error in time`(transport: ContractTransport, hostile: ContractCase) async throws {
        try await hostile.check(over: transport)
    }

    // MARK: Heads

    private static func status(_ line: String) -> String { line + "\r\nContent-Length: 2\r\n\r\nok" }

    private static func field(_ lines: String) -> String { ok + lines + "\r\nContent-Length: 2\r\n\r\nok" }

    private static let heads: [ContractCase] = [
        .init("HTTP/0.9", "<html>old</html>", .failure(.invalidResponse)),
        .init("another protocol", "220 mail.example ESMTP\r\n", .failure(.invalidResponse)),
        .init("a cousin", status("ICY 200 OK"), .failure(.invalidResponse)),
        ContractCase("HTTP/1.2", status("HTTP/1.2 200 OK"), .failure(.invalidResponse)),
        ContractCase("HTTP/9.9", status("HTTP/9.9 200 OK"), .failure(.invalidResponse)),
        // FoundationNetworking and libcurl accept it as HTTP; the curl transport does not.
        .init("lower case", status("http/1.1 200 OK"), .failure(.invalidResponse), .response(200, "ok")),
        .init("status 2000", status("HTTP/1.1 2000 OK"), .failure(.invalidResponse)),
        .init("status 20", status("HTTP/1.1 20 OK"), .failure(.invalidResponse)),
        .init("status 000", status("HTTP/1.1 000 OK"), .failure(.invalidResponse)),
        .init("status 099", status("HTTP/1.1 099 OK"), .failure(.invalidResponse)),
        .init("status -200", status("HTTP/1.1 -200 OK"), .failure(.invalidResponse)),
        .init("status 999", status("HTTP/1.1 999 OK"), .response(999, "ok")),
        .init("no status", status("HTTP/1.1"), .failure(.invalidResponse)),
        .init("two spaces", status("HTTP/1.1  200 OK"), .failure(.invalidResponse)),
        .init("a tab", status("HTTP/1.1\t200 OK"), .failure(.invalidResponse)),
        .init("a long reason", status("HTTP/1.1 200 \(String(repeating: "r", count: 50_000))"), .response(200, "ok")),
        .init(
            "a reason in Latin-1",
            .raw(Data("HTTP/1.1 200 n".utf8) + [0xE9] + Data("\r\nContent-Length: 2\r\n\r\nok".utf8)),
            .response(200, "ok"),
            exclusion: .headOfOddBytes
        ),
        .init("empty lines first", status("\r\n\r\nHTTP/1.1 200 OK"), .failure(.invalidResponse)),
        .init("an interim response alone", "HTTP/1.1 100 Continue\r\n\r\n", .failure(.connectionLost)),
        .init("another protocol from here on", "HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\nraw", .response(101, "raw")),
        ContractCase("no colon", field("garbage"), .failure(.invalidResponse)),
        .init("a folded value", field("X-A: a\r\n b"), .response(200, "ok")),
        ContractCase("a folded line first", field(" folded"), .failure(.invalidResponse)),
        ContractCase("NUL in a value", field("X-A: a\u{0}b"), .failure(.invalidResponse)),
        ContractCase("NUL in a name", field("X\u{0}A: b"), .failure(.invalidResponse)),
        .init("a control character", field("X-A: a\u{7}b"), .response(200, "ok")),
        // Newer libcurl versions refuse it.
        .init("CR in a value", field("X-A: a\rb"), .response(200, "ok"), .failure(.invalidResponse)),
        .init("an empty name", field(": b"), .response(200, "ok"), exclusion: .headWithOddNames),
        .init("a space in a name", field("X A: b"), .response(200, "ok"), exclusion: .headWithOddNames),
        .init("a space after a name", field("X-A : b"), .response(200, "ok"), exclusion: .headWithOddNames),
        .init(
            "LF alone", ok + "X-A: b\nContent-Length: 2\r\n\r\nok", .response(200, "ok"),
            exclusion: .headWithBareLineFeeds),
        .init(
            "LF alone at the end", ok + "Content-Length: 2\r\n\nok", .response(200, "ok"),
            exclusion: .headWithBareLineFeeds),
        .init("an unknown encoding", field("Content-Encoding: odd"), .failure(.invalidContentEncoding)),
        .init(
            "three encodings", field("Content-Encoding: gzip, gzip, gzip"), .failure(.invalidContentEncoding)),
        ContractCase("an odd Location", "HTTP/1.1 302 x\r\nLocation: \u{0}\r\n\r\n", .failure(.invalidResponse)),
        .init(
            "an odd challenge",
            "HTTP/1.1 401 x\r\nWWW-Authenticate: ,,,=\"\r\nContent-Length: 2\r\n\r\nno", .response(401, "no")),
        .init(
            "a thousand challenges",
            "HTTP/1.1 401 x\r\n\(String(repeating: "WWW-Authenticate: Digest nonce=\"\r\n", count: 1000))"
                + "Content-Length: 2\r\n\r\nno",
            .response(401, "no")
        ),
    ]

    @Test(arguments: ContractTransport.all, heads)
    func `a hostile head is an error in time`(transport: ContractTransport, hostile: ContractCase) async throws {
        try await hostile.check(over: transport)
    }

    // MARK: A second response

    @Test(arguments: ContractTransport.all)
    func `a second response is not the next request's`(transport: ContractTransport) async throws {
        let answers = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        try await withServer([.forEachRequest([.send(answers)])]) { server async throws in
            for _ in 0..<50 { #expect(try await transport.send(.get, server.url()).text == "ok") }
            #expect(server.requests.count == 50)
        }
    }
}
