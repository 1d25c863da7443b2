import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct CookieContract {
    /// Returns a script that sets cookies with its first response, and none with the others.
    private static func setting(
        _ lines: String..., status: Int = 200, fields: [(String, String)] = []
    ) -> Script {
        [.read, .respond(status, fields: lines.map { ("Set-Cookie", $0) } + fields), .forEachRequest([.ok()])]
    }

    /// Sends a request twice with one jar.
    /// - Returns: What was sent as cookies, and the jar.
    private func sendTwice(
        _ transport: ContractTransport, _ path: String = "/", to script: Script, jar: CookieJar? = CookieJar(),
        own: [[(String, String)]] = [[], []]
    ) async throws -> [[String]] {
        try await withServer(script, .ok()) { server in
            let client = transport.client.with { $0.cookieJar = jar }
            for fields in own {
                let request = try transport.request(.get, server.url(path), fields: fields)
                _ = try await client.send(request, as: .stream).body.collect()
            }
            return server.requests.map { $0.values(of: "Cookie") }
        }
    }

    /// The examples of RFC 6265 §3.1, as far as a server with an IP address can act them out.
    @Test(arguments: ContractTransport.all)
    func `the examples of the RFC are sent back`(transport: ContractTransport) async throws {
        let script = Self.setting(
            "SID=31d4d96e407aad42; Path=/; HttpOnly", "lang=en-US; Expires=Wed, 09 Jun 2100 10:18:14 GMT",
            "here=too; Secure", "other=host; Domain=example.com")
        let jar = CookieJar()
        let sent = try await sendTwice(transport, to: script, jar: jar)
        #expect(sent == [[], ["SID=31d4d96e407aad42; lang=en-US; here=too"]])
        #expect(jar.cookies.map(\.name).sorted() == ["SID", "here", "lang"])
    }

    @Test(arguments: ContractTransport.all)
    func `a date in the past takes a cookie away`(transport: ContractTransport) async throws {
        let jar = CookieJar()
        try jar.set(CookieJar.Cookie(name: "lang", value: "en", domain: "127.0.0.1"))
        let script = Self.setting("lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/")
        #expect(try await sendTwice(transport, to: script, jar: jar) == [["lang=en"], []])
    }

    @Test(arguments: ContractTransport.all)
    func `paths and the request's own field join in order`(transport: ContractTransport) async throws {
        let script = Self.setting("a=1; Path=/", "b=2; Path=/deep", "c=3; Path=/else", "d=4; Path=/")
        let sent = try await sendTwice(transport, "/deep/x", to: script, own: [[], [("Cookie", "d=own")]])
        #expect(sent.last == ["d=own; b=2; a=1"])
    }

    @Test(arguments: ContractTransport.all)
    func `a redirect's cookie goes along to its host alone`(transport: ContractTransport) async throws {
        let script = Self.setting("sid=1; Path=/", status: 302, fields: [("Location", "/home")])
        try await withServer(script, .ok()) { server in
            let client = transport.client.with { $0.cookieJar = CookieJar() }
            _ = try await client.send(RequestData(path: server.url("/login")), as: .data)
            #expect(server.requests.map { $0.values(of: "Cookie") } == [[], ["sid=1"]])
            // The same server under another name is a different host.
            _ = try await client.send(RequestData(path: "http://localhost:\(server.port)/"), as: .data)
            #expect(server.requests.last?.values(of: "Cookie") == [])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `without a jar, no cookie is kept`(transport: ContractTransport) async throws {
        #expect(try await sendTwice(transport, to: Self.setting("a=1"), jar: nil) == [[], []])
    }
}
