import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 2))
struct RedirectContract {
    /// Calls a closure with a server that responds to its first request with a redirect, and to all others with `end`.
    private func withRedirect(
        _ status: Int, to location: String, text: String = "moved", body: (ScriptedServer) async throws -> Void
    ) async throws {
        let redirect = Script.Step.respond(status, text, fields: [("Location", location)])
        try await withServer([.read, redirect, .forEachRequest([.ok("end")])], .ok("end")) { try await body($0) }
    }

    private func send(
        _ transport: ContractTransport, _ url: String, _ method: HTTPRequest.Method = .get,
        fields: [(String, String)] = [], body: TransportRequest.Body? = nil
    ) async throws -> NetworkResponse<Data> {
        let request = try transport.request(method, url, fields: fields, body: body)
        let client = transport.client.with {
            $0.secretFields = [HTTPField.Name("X-Own")!]
            $0.validation = .any
        }
        return try await client.send(request, as: .data)
    }

    private static let bodies: [Int?] = [nil, 0, 5, 200_000]

    @Test(arguments: ContractTransport.all, [301, 302, 303, 307, 308])
    func `methods and bodies follow the rules`(transport: ContractTransport, status: Int) async throws {
        for method in [HTTPRequest.Method.get, .head, .post, .put, .delete, .patch] {
            for count in method == .get || method == .head ? [nil] : Self.bodies {
                try await withRedirect(status, to: "/next?x=1", text: method == .head ? "" : "moved") { server in
                    let body = count.map { PatternBytes.make(count: $0) }
                    let response = try await send(
                        transport, server.url("/a/b"), method,
                        fields: [("Content-Type", "text/plain"), ("X-Kept", "yes")],
                        body: body.map { .bytes($0) })
                    let becomesGET =
                        method == .post && status < 303 || status == 303 && method != .get && method != .head
                    let next: HTTPRequest.Method = becomesGET ? .get : method
                    #expect(response.status == .ok)
                    #expect(response.body == (method == .head ? Data() : Data("end".utf8)))
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
    }

    @Test(arguments: ContractTransport.all, [(302, true), (302, false), (303, true), (307, true), (308, false)])
    func `secrets stay with their origin`(transport: ContractTransport, way: (status: Int, isOther: Bool)) async throws
    {
        let (status, isOther) = way
        try await withServer(.ok("end")) { other in
            try await withRedirect(status, to: isOther ? other.url("/x") : "/x") { server in
                let secrets = ["Authorization", "Cookie", "X-Api-Key", "X-Own"]
                let fields = secrets.map { ($0, "a=secret") } + [("X-Kept", "yes")]
                let body = TransportRequest.Body.bytes(Data("body".utf8))
                let response = try await send(transport, server.url(), .put, fields: fields, body: body)
                #expect(response.body == Data("end".utf8))
                let last = try #require(isOther ? other.requests.last : server.requests.last)
                #expect(last.target == "/x")
                #expect(last.values(of: "X-Kept") == ["yes"])
                #expect(last.method == (status == 303 ? "GET" : "PUT"))
                #expect(last.body == (status == 303 ? Data() : Data("body".utf8)))
                for name in secrets { #expect(last.values(of: name) == (isOther ? [] : ["a=secret"]), "\(name)") }
                #expect(last.values(of: "Host") == [(isOther ? other : server).baseURL.replacing("http://", with: "")])
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `credentials of the options stay with their origin`(transport: ContractTransport) async throws {
        try await withServer(.ok("end")) { other in
            try await withRedirect(302, to: other.url("/x")) { server in
                let request = try transport.request(.get, server.url()) {
                    $0.authentication = .basic(user: "me", password: "secret")
                }
                _ = try await transport.client.send(request, as: .data)
                #expect(server.requests.first?.values(of: "Authorization").count == 1)
                #expect(other.requests.map { $0.values(of: "Authorization") } == [[]])
            }
        }
    }

    @Test(
        arguments: ContractTransport.all,
        [
            ("g", "/a/b/g"), ("../g", "/a/g"), ("?y", "/a/b/c?y"), ("/g#f", "/g"), ("./", "/a/b/"),
            ("/a%2Fb", "/a%2Fb"),
        ])
    func `a Location is resolved`(transport: ContractTransport, location: (String, String)) async throws {
        try await withRedirect(302, to: location.0) { server in
            _ = try await send(transport, server.url("/a/b/c?x"))
            #expect(server.requests.map(\.target) == ["/a/b/c?x", location.1])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a small body is read so that the connection is kept`(transport: ContractTransport) async throws {
        try await withRedirect(302, to: "/x") { server in
            _ = try await send(transport, server.url())
            #expect(server.requests.count == 2)
            try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a large body is not waited for`(transport: ContractTransport) async throws {
        try await withRedirect(302, to: "/x", text: String(repeating: "x", count: 3_000_000)) { server in
            let response = try await send(transport, server.url())
            #expect(response.body == Data("end".utf8))
        }
    }

    /// Regression: the error of a streamed body knew nothing of the call.
    @Test(arguments: ContractTransport.all, [true, false])
    func `an error within a streamed body has the call's history`(
        transport: ContractTransport, collects: Bool
    ) async throws {
        let moved = Script.raw("HTTP/1.1 302 Found\r\nLocation: /cut\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        try await withServer(moved, .truncated) { server in
            let response = try await transport.client.send(try transport.request(.get, server.url()), as: .stream)
            let error = await expectFailure(.truncatedBody) {
                if collects { _ = try await response.body.collect() } else { for try await _ in response.body {} }
            }
            #expect(error?.exchange?.redirectCount == 1)
        }
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

    @Test(arguments: ContractTransport.all, [true, false])
    func `a streamed body is replayed, or handed back`(transport: ContractTransport, isReplayable: Bool) async throws {
        guard transport.transport.capabilities.supports(.streamedRequestBodies) else { return }
        let chunks = Array(repeating: PatternBytes.make(count: 1000), count: 4)
        try await withRedirect(307, to: "/x") { server in
            let response = try await send(
                transport, server.url(), .post, body: isReplayable ? .replayable(chunks) : .once(chunks))
            #expect(response.status.code == (isReplayable ? 200 : 307))
            #expect(server.requests.map(\.body.count) == (isReplayable ? [4000, 4000] : [4000]))
        }
    }
}
