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
    private func client(_ transport: ContractTransport) -> NetworkClient {
        var client = NetworkClient(transport: transport.transport)
        client.options.totalTimeout = .seconds(30)
        return client
    }

    @Test(arguments: ContractTransport.all)
    func `lines come as they are sent`(transport: ContractTransport) async throws {
        let gate = Gate()
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=iso-8859-1\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try ScriptedServer([
            .read, .send(head + "4\r\na\r\nb\r\n"), .wait(until: gate),
            .send(Data([0x33, 13, 10, 0xE4, 13, 10, 13, 10]) + Data("2\r\n\nc\r\n0\r\n\r\n".utf8)), .close,
        ])
        defer { server.stop() }
        var lines = try await client(transport).send(RequestData(path: server.url()), as: .lines).body
            .makeAsyncIterator()
        #expect(try await lines.next() == "a")
        gate.open()
        #expect(try await lines.next() == "bä")
        #expect(try await lines.next() == "")
        #expect(try await lines.next() == "c")
        #expect(try await lines.next() == nil)
    }

    @Test(arguments: ContractTransport.all)
    func `JSON lines are values at every chunk border`(transport: ContractTransport) async throws {
        let body = Data("{\"n\":1}\n\r\n{\"n\":2}\r\n{\"n\":3}".utf8)
        let head = Script.head(200, fields: [("Content-Length", "\(body.count)")])
        let server = try ScriptedServer([.read, .send(head), .sendSplit(body, each: 1), .close])
        defer { server.stop() }
        var rows: [Row] = []
        for try await row in try await client(transport).send(
            RequestData(path: server.url()), as: .jsonLines(of: Row.self)
        ).body {
            rows.append(row)
        }
        #expect(rows == [1, 2, 3].map { Row(n: $0) })
    }

    @Test(arguments: ContractTransport.all)
    func `lines that break off are an error after the others`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na\nb\nc"))
        defer { server.stop() }
        var lines = try await client(transport).send(RequestData(path: server.url()), as: .lines).body
            .makeAsyncIterator()
        #expect(try await lines.next() == "a")
        #expect(try await lines.next() == "b")
        await expectFailure(.truncatedBody) { try await lines.next() }
        #expect(try await lines.next() == nil)
    }

    @Test(arguments: ContractTransport.all)
    func `a text is in the charset of the response`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(
            .response(fields: [("Content-Type", "text/plain; charset=ISO-8859-1")], body: Data([0x67, 0xFC])))
        defer { server.stop() }
        #expect(try await client(transport).send(RequestData(path: server.url()), as: .text).body == "gü")
    }

    @Test(arguments: ContractTransport.all)
    func `a stream is refused before its body has ended`(transport: ContractTransport) async throws {
        let start = String(repeating: "x", count: 70_000)
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 500 Oops\r\nContent-Length: 1000000\r\n\r\n" + start), .stall,
        ])
        defer { server.stop() }
        let error = await expectFailure(.unacceptableStatus) {
            try await client(transport).send(RequestData(path: server.url()), as: .jsonLines(of: Row.self))
        }
        #expect(error?.response?.body.count == 65_536)
    }

    @Test(arguments: ContractTransport.all)
    func `an optional is nil for 204`(transport: ContractTransport) async throws {
        let none = try ScriptedServer([.read, .send("HTTP/1.1 204 No Content\r\n\r\n"), .close])
        let some = try ScriptedServer(.ok(#"{"n":1}"#))
        defer {
            none.stop()
            some.stop()
        }
        #expect(try await FindRow(url: none.url()).send(over: client(transport)).body == nil)
        #expect(try await FindRow(url: some.url()).send(over: transport.transport).body == Row(n: 1))
    }

    @Test(arguments: ContractTransport.all)
    func `a problem is part of the error`(transport: ContractTransport) async throws {
        let body = Data(#"{"type":"urn:x","title":"No credit","status":403,"balance":30}"#.utf8)
        let server = try ScriptedServer(
            .response(403, fields: [("Content-Type", "application/problem+json")], body: body))
        defer { server.stop() }
        let error = await expectFailure(.unacceptableStatus) {
            try await FindRow(url: server.url("/?key=secret")).send(over: client(transport)).body
        }
        #expect(error?.problem?.title == "No credit")
        #expect(error?.problem?.extensions["balance"] == 30)
        #expect(error?.description.contains("credit") == false && error?.description.contains("secret") == false)
    }
}
