import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct RequestFieldContract {
    private func received(
        _ transport: ContractTransport,
        _ fields: [(String, String)] = [],
        method: HTTPRequest.Method = .get,
        body: Data? = nil
    ) async throws -> ReceivedRequest {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        _ = try await transport.send(method, server.url(), fields: fields, body: body)
        return try #require(server.requests.first)
    }

    @Test(arguments: ContractTransport.all)
    func `headers of the typed layer are sent`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok("{}"))
        defer { server.stop() }
        let headers = ["Authorization": "Bearer t", "Cookie": "a=1; b=2", "X-Api-Key": "k", "Accept": "text/plain"]
        _ = try await transport.transport.send(RequestData(path: server.url(), headerFields: headers), as: .data).body
        let request = try #require(server.requests.first)
        for (name, value) in headers { #expect(request.values(of: name) == [value]) }
    }

    @Test(arguments: ContractTransport.all)
    func `default fields are the library's and nothing else`(transport: ContractTransport) async throws {
        let request = try await received(transport)
        let fields = Dictionary(request.fields.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
        let host = try #require(fields["host"])
        #expect(host.hasPrefix("127.0.0.1:"))
        #expect(
            fields.filter { !["host", "connection"].contains($0.key) } == [
                "accept": "*/*", "user-agent": TransportRequest.userAgent, "accept-encoding": "gzip, deflate",
            ]
        )
    }

    @Test(arguments: ContractTransport.all, [1, 100_000, 3_000_000])
    func `a body gets no Content-Type and no Expect`(transport: ContractTransport, count: Int) async throws {
        for method in [HTTPRequest.Method.post, .put] {
            let request = try await received(transport, method: method, body: PatternBytes.make(count: count))
            #expect(request.values(of: "Content-Length") == ["\(count)"])
            for name in ["Content-Type", "Expect", "Transfer-Encoding"] {
                #expect(request.values(of: name).isEmpty, "\(request.head)")
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a length of the caller is replaced`(transport: ContractTransport) async throws {
        let fields = [("Content-Length", "99"), ("Transfer-Encoding", "chunked"), ("Content-Type", "text/x")]
        let request = try await received(transport, fields, method: .post, body: Data("abc".utf8))
        #expect(request.values(of: "Content-Length") == ["3"])
        #expect(request.values(of: "Transfer-Encoding").isEmpty)
        #expect(request.values(of: "Content-Type") == ["text/x"])
        #expect(request.body == Data("abc".utf8))
    }

    @Test(arguments: ContractTransport.all)
    func `a value outside ASCII is sent as UTF-8`(transport: ContractTransport) async throws {
        let request = try await received(transport, [("X-Name", "é")])
        #expect(request.values(of: "X-Name") == ["\u{C3}\u{A9}"])
    }

    @Test(arguments: ContractTransport.all)
    func `an empty value is sent`(transport: ContractTransport) async throws {
        let request = try await received(transport, [("X-Empty", ""), ("X-Blank", " ")])
        #expect(request.values(of: "X-Empty") == [""])
        #expect(request.values(of: "X-Blank") == [""])
    }

    @Test(arguments: ContractTransport.all)
    func `a long value is sent`(transport: ContractTransport) async throws {
        let value = String(repeating: "v", count: 60_000)
        #expect(try await received(transport, [("X-Long", value)]).values(of: "X-Long") == [value])
    }

    @Test(arguments: ContractTransport.all)
    func `the case of a name is kept`(transport: ContractTransport) async throws {
        try await transport.run(.requestFieldCase) {
            let request = try await received(transport, [("x-api-KEY", "1")])
            #expect(request.fields.contains { $0.name == "x-api-KEY" })
        }
    }

    @Test(arguments: ContractTransport.all)
    func `repeated fields are sent apart`(transport: ContractTransport) async throws {
        let request = try await received(transport, [("X-A", "1"), ("X-A", "2")])
        #expect(request.values(of: "X-A").joined(separator: ", ") == "1, 2")
        try await transport.run(.repeatedRequestFields) { #expect(request.values(of: "X-A") == ["1", "2"]) }
    }
}
