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

    /// Returns the text of a response, or `second` where the line is refused: newer libcurl versions skip such a line.
    /// Older ones refuse the response with an error number that has no other detail.
    private func text(
        _ transport: ContractTransport, _ response: () async throws -> Data
    ) async throws -> String {
        do {
            return String(decoding: try await response(), as: UTF8.self)
        } catch let error as NetworkError {
            let isRefusal =
                error.code == .invalidResponse || transport.kind == "urlsession" && error.code == .unclassified
            #expect(isRefusal, "\(error)")
            return "second"
        }
    }

    /// A request that begins before the previous connection is free uses a new one, and gets that connection's first
    /// response.
    @Test(arguments: ContractTransport.all, lines)
    func `a first line that continues nothing is an error, from the same server`(
        transport: ContractTransport, line: String
    ) async throws {
        let first = Script.Step.respond(200, "first", fields: [Self.long])
        try await withServer([.read, first, .read, .send(Self.folded(line)), .close]) { server in
            var (firsts, seconds) = (0, 0)
            for _ in 0..<100 where seconds < 10 {
                let text = try await text(transport) { try await transport.send(.get, server.url()).body }
                firsts += text == "first" ? 1 : 0
                seconds += text == "second" ? 1 : 0
            }
            #expect(seconds == 10)
            #expect(firsts == server.connectionCount)
        }
    }

    @Test(arguments: ContractTransport.all, lines)
    func `a first line that continues nothing is an error, from another server`(
        transport: ContractTransport, line: String
    ) async throws {
        try await withServer(.ok("first", fields: [Self.long])) { good in
            for _ in 0..<10 {
                #expect(try await transport.send(.get, good.url()).text == "first")
                let text = try await text(transport) { try await transport.send(to: .raw(Self.folded(line))).body }
                #expect(text == "second")
            }
        }
    }

    @Test(arguments: ContractTransport.all, lines)
    func `a first line that continues nothing is an error, after a redirect`(
        transport: ContractTransport, line: String
    ) async throws {
        try await withServer(.raw(Self.folded(line))) { bad in
            try await withServer(.response(302, fields: [("Location", bad.url())])) { server in
                for _ in 0..<10 {
                    let request = try transport.request(.get, server.url())
                    let text = try await text(transport) {
                        try await transport.client.send(request, as: .stream).body.collect()
                    }
                    #expect(text == "second")
                }
            }
        }
    }
}
