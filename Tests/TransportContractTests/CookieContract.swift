import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct CookieContract {
    /// Returns a server that sets cookies with its first response, and none with the others.
    private func server(_ status: Int = 200, fields: [(String, String)] = [], sets lines: [String]) throws
        -> ScriptedServer
    {
        let head = lines.map { ("Set-Cookie", $0) } + fields + [("Content-Length", "0")]
        let end = Script.head(200, fields: [("Content-Length", "0")])
        return try ScriptedServer(
            [.read, .send(Script.head(status, fields: head)), .forEachRequest([.send(end)])], .ok())
    }

    private func get(_ client: NetworkClient, _ transport: ContractTransport, _ url: String, cookie: String? = nil)
        async throws
    {
        let fields = cookie.map { [("Cookie", $0)] } ?? []
        _ = try await client.send(try transport.request(.get, url, fields: fields), as: .stream).body.collect()
    }

    /// The examples of RFC 6265 §3.1, as far as a server with an IP address can act them out.
    @Test(arguments: ContractTransport.all)
    func `the examples of the RFC are sent back`(transport: ContractTransport) async throws {
        let server = try server(sets: [
            "SID=31d4d96e407aad42; Path=/; HttpOnly", "lang=en-US; Expires=Wed, 09 Jun 2100 10:18:14 GMT",
            "here=too; Secure", "other=host; Domain=example.com",
        ])
        defer { server.stop() }
        var client = transport.client
        let jar = CookieJar()
        client.cookieJar = jar
        try await get(client, transport, server.url("/"))
        try await get(client, transport, server.url("/"))
        #expect(
            server.requests.map { $0.values(of: "Cookie") } == [[], ["SID=31d4d96e407aad42; lang=en-US; here=too"]])
        #expect(jar.cookies.map(\.name).sorted() == ["SID", "here", "lang"])
    }

    @Test(arguments: ContractTransport.all)
    func `a date in the past takes a cookie away`(transport: ContractTransport) async throws {
        let server = try server(sets: ["lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/"])
        defer { server.stop() }
        var client = transport.client
        let jar = CookieJar()
        client.cookieJar = jar
        try jar.set(CookieJar.Cookie(name: "lang", value: "en", domain: "127.0.0.1"))
        try await get(client, transport, server.url())
        try await get(client, transport, server.url())
        #expect(server.requests.map { $0.values(of: "Cookie") } == [["lang=en"], []])
    }

    @Test(arguments: ContractTransport.all)
    func `paths and the request's own field join in order`(transport: ContractTransport) async throws {
        let server = try server(sets: ["a=1; Path=/", "b=2; Path=/deep", "c=3; Path=/else", "d=4; Path=/"])
        defer { server.stop() }
        var client = transport.client
        client.cookieJar = CookieJar()
        try await get(client, transport, server.url("/deep/x"))
        try await get(client, transport, server.url("/deep/x"), cookie: "d=own")
        #expect(server.requests.last?.values(of: "Cookie") == ["d=own; b=2; a=1"])
    }

    @Test(arguments: ContractTransport.all)
    func `a redirect's cookie goes along to its host alone`(transport: ContractTransport)
        async throws
    {
        let server = try server(302, fields: [("Location", "/home")], sets: ["sid=1; Path=/"])
        defer { server.stop() }
        var client = transport.client
        client.cookieJar = CookieJar()
        try await get(client, transport, server.url("/login"))
        #expect(server.requests.map { $0.values(of: "Cookie") } == [[], ["sid=1"]])
        // The same server under another name is a different host.
        try await get(client, transport, server.url("/").replacing("127.0.0.1", with: "localhost"))
        #expect(server.requests.last?.values(of: "Cookie") == [])
    }

    @Test(arguments: ContractTransport.all)
    func `without a jar, no cookie is kept`(transport: ContractTransport) async throws {
        let server = try server(sets: ["a=1"])
        defer { server.stop() }
        try await get(transport.client, transport, server.url())
        try await get(transport.client, transport, server.url())
        #expect(server.requests.map { $0.values(of: "Cookie") } == [[], []])
    }
}
