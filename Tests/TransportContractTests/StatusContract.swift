import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct StatusContract {
    @Test(
        arguments: ContractTransport.all,
        [
            200, 201, 203, 206, 226, 299, 300, 400, 402, 403, 404, 405, 409, 410, 418, 429, 451, 499, 500, 502,
            503, 599,
        ]
    )
    func `any status is a response with its body`(transport: ContractTransport, status: Int) async throws {
        let server = try ScriptedServer(.response(status, fields: [("X-A", "b")], body: Data("body".utf8)))
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url())
        #expect(answer.status == status)
        #expect(answer.text == "body")
        #expect(answer.values(of: "X-A") == ["b"])
    }

    @Test(arguments: ContractTransport.all, [204, 304])
    func `a status without body ends at the blank line`(transport: ContractTransport, status: Int) async throws {
        let server = try ScriptedServer([.forEachRequest([.send(Script.head(status, fields: [("ETag", "\"1\"")]))])])
        defer { server.stop() }
        for _ in 0..<2 {
            let answer = try await transport.send(.get, server.url())
            #expect(answer.status == status)
            #expect(answer.body.isEmpty)
            #expect(answer.values(of: "ETag") == ["\"1\""])
        }
        try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
    }

    /// A 304 response states the length of the body that it does not have.
    @Test(arguments: ContractTransport.all)
    func `a 304 may announce more than the limit`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.raw(Script.head(304, fields: [("Content-Length", "1000000000")])))
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url()) { $0.maximumBodyBytes = 10 }
        #expect(answer.status == 304)
        #expect(answer.body.isEmpty)
    }

    @Test(arguments: ContractTransport.all, ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\"", "Bearer"])
    func `a 401 is a response`(transport: ContractTransport, challenge: String) async throws {
        let server = try ScriptedServer(
            .response(401, fields: [("WWW-Authenticate", challenge)], body: Data("who are you".utf8))
        )
        defer { server.stop() }
        for method in [HTTPRequest.Method.get, .post] {
            let answer = try await transport.send(method, server.url())
            #expect(answer.status == 401)
            #expect(answer.text == "who are you")
            #expect(answer.values(of: "WWW-Authenticate") == [challenge])
        }
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ContractTransport.all)
    func `a 407 from a server is a response`(transport: ContractTransport) async throws {
        let fields = [("Proxy-Authenticate", "Basic realm=\"p\"")]
        let server = try ScriptedServer(.response(407, fields: fields, body: Data("no".utf8)))
        defer { server.stop() }
        let answer = try await transport.send(.get, server.url())
        #expect(answer.status == 407)
        #expect(answer.text == "no")
    }

    @Test(arguments: ContractTransport.all, [301, 302, 303, 307, 308])
    func `a redirect is handed back as it is`(transport: ContractTransport, status: Int) async throws {
        let server = try ScriptedServer(.response(status, fields: [("Location", "/next")], body: Data("moved".utf8)))
        defer { server.stop() }
        for method in [HTTPRequest.Method.get, .post] {
            let answer = try await transport.send(method, server.url(), body: method == .post ? Data("x".utf8) : nil)
            #expect(answer.status == status)
            #expect(answer.text == "moved")
            #expect(answer.values(of: "Location") == ["/next"])
        }
        #expect(server.requests.map(\.target) == ["/", "/"])
    }

    @Test(arguments: ContractTransport.all, ["//[::1]/x", "//a%20b/x", "http://[", "::", "http://a b/"])
    func `a redirect to anything is handed back as it is`(transport: ContractTransport, location: String) async throws {
        let check = {
            let server = try ScriptedServer(.response(302, fields: [("Location", location)]))
            defer { server.stop() }
            let answer = try await transport.send(.get, server.url())
            #expect(answer.status == 302)
            #expect(answer.values(of: "Location") == [location])
        }
        guard location.hasPrefix("//") else { return try await check() }
        try await transport.run(.redirectToOddHost, body: check)
    }

    @Test(arguments: ContractTransport.all, [301, 302, 303, 305, 306, 307, 308])
    func `a redirect without Location is a response with its body`(transport: ContractTransport, status: Int)
        async throws
    {
        let server = try ScriptedServer(.response(status, body: Data("nowhere".utf8)))
        defer { server.stop() }
        try await transport.run(.redirectWithoutLocation) {
            let answer = try await transport.send(.get, server.url())
            #expect(answer.status == status)
            #expect(answer.text == "nowhere")
        }
    }
}
