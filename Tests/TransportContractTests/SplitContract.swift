import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Checks responses that TCP cuts at any position.
@Suite(.patience(minutes: 1))
struct SplitContract {
    private static let text = Data(
        "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n"
            .utf8
    )

    private func expectWhole(_ answer: ContractTransport.Answer, _ comment: Comment? = nil) {
        #expect(answer.status == 200, comment)
        #expect(answer.text == "abcd", comment)
        #expect(answer.values(of: "X-A") == ["b"], comment)
        #expect(answer.values(of: "A").isEmpty, comment)
    }

    @Test(arguments: ContractTransport.all)
    func `a response sent byte by byte is the same response`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .sendSplit(Self.text, each: 1)])
        defer { server.stop() }
        expectWhole(try await transport.send(.get, server.url()))
    }

    @Test(arguments: ContractTransport.all)
    func `a response cut anywhere in two is the same response`(transport: ContractTransport) async throws {
        let scripts = (1..<Self.text.count).map { cut -> Script in
            [.read, .send(Self.text.prefix(cut)), .pause(.milliseconds(3)), .send(Self.text.dropFirst(cut)), .close]
        }
        let server = try ScriptedServer(scripts: scripts)
        defer { server.stop() }
        for cut in 1..<Self.text.count {
            expectWhole(try await transport.send(.get, server.url()), "cut at \(cut)")
        }
    }
}
