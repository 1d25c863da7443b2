import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 2))
struct RedirectContract {
    /// Returns a server that responds to its first request with a redirect, and to all others with `end`.
    private func server(_ status: Int, to location: String, body: Data = Data("moved".utf8)) throws -> ScriptedServer {
        let fields = [("Location", location), ("Content-Length", "\(body.count)")]
        let end = Script.head(200, fields: [("Content-Length", "3")]) + Data("end".utf8)
        return try ScriptedServer(
            [.read, .send(Script.head(status, fields: fields) + body), .forEachRequest([.send(end)])],
            .ok("end")
        )
    }

    private static let bodies: [Int?] = [nil, 0, 5, 200_000]

    @Test(arguments: ContractTransport.all, [301, 302, 303, 307, 308])
    func `methods and bodies follow the rules`(transport: ContractTransport, status: Int) async throws {
        for method in [HTTPRequest.Method.get, .head, .post, .put, .delete, .patch] {
            for count in method == .get || method == .head ? [nil] : Self.bodies {
                let server = try server(status, to: "/next?x=1", body: method == .head ? Data() : Data("moved".utf8))
                defer { server.stop() }
                let body = count.map { PatternBytes.make(count: $0) }
                let response = try await transport.client.send(
                    try transport.request(
                        method, server.url("/a/b"), fields: [("Content-Type", "text/plain"), ("X-Kept", "yes")],
                        body: body.map { .bytes($0) }), as: .stream)
                let text = try await response.body.collect()
                let becomesGET =
                    method == .post && status < 303 || status == 303 && method != .get && method != .head
                let next: HTTPRequest.Method = becomesGET ? .get : method
                #expect(response.status == .ok)
                #expect(text == (method == .head ? Data() : Data("end".utf8)))
                #expect(server.requests.map(\.method) == [method.rawValue, next.rawValue])
                #expect(server.requests.map(\.target) == ["/a/b", "/next?x=1"])
                #expect(server.requests.last?.values(of: "X-Kept") == ["yes"])
                #expect(server.requests.last?.body == (becomesGET ? Data() : body ?? Data()))
                #expect(server.requests.last?.values(of: "Content-Type") == (becomesGET ? [] : ["text/plain"]))
                #expect(response.redirects.map(\.to.absoluteString) == [server.url("/next?x=1")])
                #expect(response.redirects.map(\.method) == [next])
            }
        }
    }

    @Test(arguments: ContractTransport.all, [(302, true), (302, false), (303, true), (307, true), (308, false)])
    func `secrets stay with their origin`(transport: ContractTransport, way: (status: Int, isOther: Bool)) async throws
    {
        let (status, isOther) = way
        let other = try ScriptedServer(.ok("end"))
        defer { other.stop() }
        let server = try server(status, to: isOther ? other.url("/x") : "/x")
        defer { server.stop() }
        var client = transport.client
        client.secretFields = [try #require(HTTPField.Name("X-Own"))]
        let secrets = ["Authorization", "Cookie", "X-Api-Key", "X-Own"]
        let fields = secrets.map { ($0, "a=secret") } + [("X-Kept", "yes")]
        let response = try await client.send(
            try transport.request(.put, server.url(), fields: fields, body: .bytes(Data("body".utf8))), as: .stream)
        #expect(try await response.body.collect() == Data("end".utf8))
        let last = try #require(isOther ? other.requests.last : server.requests.last)
        #expect(last.target == "/x")
        #expect(last.values(of: "X-Kept") == ["yes"])
        #expect(last.method == (status == 303 ? "GET" : "PUT"))
        #expect(last.body == (status == 303 ? Data() : Data("body".utf8)))
        for name in secrets { #expect(last.values(of: name) == (isOther ? [] : ["a=secret"]), "\(name)") }
        #expect(last.values(of: "Host") == [(isOther ? other : server).baseURL.replacing("http://", with: "")])
    }

    @Test(arguments: ContractTransport.all)
    func `credentials of the options stay with their origin`(transport: ContractTransport) async throws {
        let other = try ScriptedServer(.ok("end"))
        defer { other.stop() }
        let server = try server(302, to: other.url("/x"))
        defer { server.stop() }
        var request = try transport.request(.get, server.url())
        request.options.authentication = .basic(user: "me", password: "secret")
        _ = try await transport.client.send(request, as: .stream).body.collect()
        #expect(server.requests.first?.values(of: "Authorization").count == 1)
        #expect(other.requests.map { $0.values(of: "Authorization") } == [[]])
    }

    @Test(
        arguments: ContractTransport.all,
        [
            ("g", "/a/b/g"), ("../g", "/a/g"), ("?y", "/a/b/c?y"), ("/g#f", "/g"), ("./", "/a/b/"),
            ("/a%2Fb", "/a%2Fb"),
        ])
    func `a Location is resolved`(transport: ContractTransport, location: (String, String)) async throws {
        let server = try server(302, to: location.0)
        defer { server.stop() }
        _ = try await transport.client.send(try transport.request(.get, server.url("/a/b/c?x")), as: .stream).body
            .collect()
        #expect(server.requests.map(\.target) == ["/a/b/c?x", location.1])
    }

    @Test(arguments: ContractTransport.all)
    func `a small body is read so that the connection is kept`(transport: ContractTransport) async throws {
        let server = try server(302, to: "/x")
        defer { server.stop() }
        _ = try await transport.client.send(try transport.request(.get, server.url()), as: .stream).body.collect()
        #expect(server.requests.count == 2)
        try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
    }

    @Test(arguments: ContractTransport.all)
    func `a large body is not waited for`(transport: ContractTransport) async throws {
        let server = try server(302, to: "/x", body: Data(count: 3_000_000))
        defer { server.stop() }
        let response = try await transport.client.send(try transport.request(.get, server.url()), as: .stream)
        #expect(try await response.body.collect() == Data("end".utf8))
    }

    /// Regression: the error of a streamed body knew nothing of the call.
    @Test(arguments: ContractTransport.all, [true, false])
    func `an error within a streamed body has the call's history`(
        transport: ContractTransport, collects: Bool
    ) async throws {
        let cut: Script = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx"), .close]
        let moved = "HTTP/1.1 302 Found\r\nLocation: /cut\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        let server = try ScriptedServer([.read, .send(moved), .close], cut)
        defer { server.stop() }
        let response = try await transport.client.send(try transport.request(.get, server.url()), as: .stream)
        let error = await expectFailure(.truncatedBody) {
            if collects { _ = try await response.body.collect() } else { for try await _ in response.body {} }
        }
        #expect(error?.exchange?.redirectCount == 1)
    }

    @Test(arguments: ContractTransport.all) func `the limit is twenty`(transport: ContractTransport) async throws {
        let response = try await transport.client.send(RequestData(path: try await Demo.url("/redirect/20")), as: .data)
        #expect(response.redirects.count == 20)
        #expect(String(decoding: response.body, as: UTF8.self).contains("dataField1"))
        let url = try await Demo.url("/redirect/21")
        let error = await expectFailure(.tooManyRedirects) {
            try await transport.client.send(RequestData(path: url), as: .data)
        }
        #expect(error?.exchange?.redirectCount == 20)
    }

    @Test(arguments: ContractTransport.all)
    func `a streamed body is replayed, or handed back`(transport: ContractTransport)
        async throws
    {
        guard transport.transport.capabilities.supports(.streamedRequestBodies) else { return }
        let chunks: @Sendable () -> AsyncStream<Data> = {
            AsyncStream<Data> { continuation in
                for _ in 0..<4 { continuation.yield(PatternBytes.make(count: 1000)) }
                continuation.finish()
            }
        }
        for (body, status) in [(TransportRequest.Body.replayableStream(chunks), 200), (.stream(chunks()), 307)] {
            let server = try server(307, to: "/x")
            defer { server.stop() }
            let response = try await transport.client.send(
                try transport.request(.post, server.url(), body: body), as: .stream)
            #expect(response.status.code == status)
            _ = try await response.body.collect()
            #expect(server.requests.map(\.body.count) == (status == 200 ? [4000, 4000] : [4000]))
        }
    }
}
