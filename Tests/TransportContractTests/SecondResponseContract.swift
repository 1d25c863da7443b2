import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Checks that no state of a response reaches the next one. A continuation line refers to the field before it. The
/// first line of a head has no such field, and must not use the last field of an earlier response.
@Suite(.patience(minutes: 1))
struct SecondResponseContract {
    private static let lines = ["\tX: y", " X: y", " "]
    private static let long = ("X-Long", String(repeating: "x", count: 200))

    private static func folded(_ line: String) -> String {
        "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 6\r\n\r\nsecond"
    }

    /// Newer libcurl versions skip such a line. Older ones refuse the response with an error number that has no other
    /// detail.
    private func isRefusal(_ error: NetworkError, _ transport: ContractTransport) -> Bool {
        error.code == .invalidResponse || transport.kind == "urlsession" && error.code == .unclassified
    }

    private func check(_ transport: ContractTransport, _ url: String) async throws {
        do {
            let answer = try await transport.send(.get, url)
            #expect(answer.text == "second")
        } catch let error as NetworkError {
            #expect(isRefusal(error, transport), "\(error)")
        }
    }

    /// A request that begins before the previous connection is free uses a new one, and gets that connection's first
    /// response.
    @Test(arguments: ContractTransport.all, lines)
    func `a first line that continues nothing is an error, from the same server`(
        transport: ContractTransport, line: String
    )
        async throws
    {
        let first = Script.head(200, fields: [Self.long, ("Content-Length", "5")]) + Data("first".utf8)
        let server = try ScriptedServer([.read, .send(first), .read, .send(Self.folded(line)), .close])
        defer { server.stop() }
        var (firsts, seconds) = (0, 0)
        for _ in 0..<100 where seconds < 10 {
            do {
                let text = try await transport.send(.get, server.url()).text
                firsts += text == "first" ? 1 : 0
                seconds += text == "second" ? 1 : 0
            } catch let error as NetworkError {
                #expect(isRefusal(error, transport), "\(error)")
                seconds += 1
            }
        }
        #expect(seconds == 10)
        #expect(firsts == server.connectionCount)
    }

    @Test(arguments: ContractTransport.all, lines)
    func `a first line that continues nothing is an error, from another server`(
        transport: ContractTransport, line: String
    )
        async throws
    {
        let good = try ScriptedServer(.ok("first", fields: [Self.long]))
        defer { good.stop() }
        for _ in 0..<10 {
            let bad = try ScriptedServer(.raw(Self.folded(line)))
            defer { bad.stop() }
            #expect(try await transport.send(.get, good.url()).text == "first")
            try await check(transport, bad.url())
        }
    }

    @Test(arguments: ContractTransport.all, lines)
    func `a first line that continues nothing is an error, after a redirect`(transport: ContractTransport, line: String)
        async throws
    {
        let bad = try ScriptedServer(.raw(Self.folded(line)))
        defer { bad.stop() }
        let server = try ScriptedServer(.response(302, fields: [("Location", bad.url())]))
        defer { server.stop() }
        for _ in 0..<10 {
            do {
                let response = try await transport.client.send(try transport.request(.get, server.url()), as: .stream)
                #expect(try await response.body.collect() == Data("second".utf8))
            } catch let error as NetworkError {
                #expect(isRefusal(error, transport), "\(error)")
            }
        }
    }
}
