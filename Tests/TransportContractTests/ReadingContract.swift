import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

private struct Row: Codable, Equatable, Sendable { let n: Int }

private struct FindRow: RequestType {
    typealias ResponseType = Row?
    let url: String
    var data: RequestData { RequestData(path: url) }
}

/// The kinds of values other than a decoded body, and responses that are refused before any value exists.
@Suite(.patience(minutes: 1))
struct ReadingContract {
    private func lines(
        _ transport: ContractTransport, _ server: ScriptedServer
    ) async throws -> some AsyncIteratorProtocol<String, any Error> {
        try await transport.client.send(RequestData(path: server.url()), as: .lines).body.makeAsyncIterator()
    }

    @Test(arguments: ContractTransport.all)
    func `lines come as they are sent`(transport: ContractTransport) async throws {
        let gate = Gate()
        let fields = [("Content-Type", "text/plain; charset=iso-8859-1"), ("Transfer-Encoding", "chunked")]
        try await withServer([
            .read, .send(Script.head(200, fields: fields) + Data("4\r\na\r\nb\r\n".utf8)), .wait(until: gate),
            .send(Data([0x33, 13, 10, 0xE4, 13, 10, 13, 10]) + Data("2\r\n\nc\r\n0\r\n\r\n".utf8)), .close,
        ]) { server in
            var lines = try await lines(transport, server)
            #expect(try await lines.next() == "a")
            gate.open()
            for line in ["bä", "", "c", nil] { #expect(try await lines.next() == line) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `JSON lines are values at every chunk border`(transport: ContractTransport) async throws {
        let body = Data("{\"n\":1}\n\r\n{\"n\":2}\r\n{\"n\":3}".utf8)
        let head = Script.head(200, fields: [("Content-Length", "\(body.count)")])
        try await withServer([.read, .send(head), .sendSplit(body, each: 1), .close]) { server in
            let request = RequestData(path: server.url())
            var rows: [Row] = []
            for try await row in try await transport.client.send(request, as: .jsonLines(of: Row.self)).body {
                rows.append(row)
            }
            #expect(rows == [1, 2, 3].map { Row(n: $0) })
        }
    }

    @Test(arguments: ContractTransport.all)
    func `lines that break off are an error after the others`(transport: ContractTransport) async throws {
        try await withServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na\nb\nc")) { server in
            var lines = try await lines(transport, server)
            for line in ["a", "b"] { #expect(try await lines.next() == line) }
            await expectFailure(.truncatedBody) { try await lines.next() }
            #expect(try await lines.next() == nil)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a text is in the charset of the response`(transport: ContractTransport) async throws {
        let fields = [("Content-Type", "text/plain; charset=ISO-8859-1")]
        try await withServer(.response(fields: fields, body: Data([0x67, 0xFC]))) { server async throws in
            #expect(try await transport.client.send(RequestData(path: server.url()), as: .text).body == "gü")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a stream is refused before its body has ended`(transport: ContractTransport) async throws {
        let start = "HTTP/1.1 500 Oops\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "x", count: 70_000)
        try await withServer([.read, .send(start), .stall]) { server in
            let error = await expectFailure(.unacceptableStatus) {
                try await transport.client.send(RequestData(path: server.url()), as: .jsonLines(of: Row.self))
            }
            #expect(error?.response?.body.count == 65_536)
        }
    }

    @Test(
        arguments: ContractTransport.all,
        [(.raw("HTTP/1.1 204 No Content\r\n\r\n"), nil), (.ok(#"{"n":1}"#), 1)] as [(Script, Int?)])
    func `an optional is nil for 204`(transport: ContractTransport, row: (script: Script, n: Int?)) async throws {
        try await withServer(row.script) { server async throws in
            #expect(try await FindRow(url: server.url()).send(over: transport.client).body?.n == row.n)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a problem is part of the error`(transport: ContractTransport) async throws {
        let body = Data(#"{"type":"urn:x","title":"No credit","status":403,"balance":30}"#.utf8)
        let fields = [("Content-Type", "application/problem+json")]
        try await withServer(.response(403, fields: fields, body: body)) { server in
            let error = await expectFailure(.unacceptableStatus) {
                try await FindRow(url: server.url("/?key=secret")).send(over: transport.client)
            }
            #expect(error?.problem?.title == "No credit")
            #expect(error?.problem?.extensions["balance"] == 30)
            #expect(error?.description.contains("credit") == false && error?.description.contains("secret") == false)
        }
    }
}
