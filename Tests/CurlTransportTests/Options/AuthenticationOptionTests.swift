import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Credentials", .patience(minutes: 1))
struct AuthenticationOptionTests {
    private static func challenge(_ schemes: [String], body: String = "denied") -> Data {
        let fields = schemes.map { ("WWW-Authenticate", $0) } + [("Content-Length", "\(body.utf8.count)")]
        return Script.head(401, fields: fields) + Data(body.utf8)
    }

    private static let ok = Script.head(200, fields: [("Content-Length", "2")]) + Data("in".utf8)
    private static let digest = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#

    /// A server that challenges the first request. The second may come over another connection
    /// on a busy machine where other tests fill the shared pool between the rounds.
    private static func challenging(_ schemes: String..., then second: Data = ok) throws -> ScriptedServer {
        let first = challenge(schemes)
        return try ScriptedServer(scripts: [[.read, .send(first), .read, .send(second)], [.read, .send(second)]])
    }

    @Test func `Digest is handled, and the caller sees the last response alone`() async throws {
        let server = try Self.challenging(Self.digest)
        defer { server.stop() }
        let exchange = try await OptionExchange(server.url("/a")) {
            $0.authentication = .digest(user: "me", password: "open sesame")
        }
        #expect(exchange.status == 200)
        #expect(exchange.text == "in")
        #expect(server.requests.map { $0.values(of: "Authorization").count } == [0, 1])
        let answer = try #require(server.requests.last?.values(of: "Authorization").first)
        #expect(answer.contains(#"username="me""#))
        #expect(answer.contains("algorithm=SHA-256"))
        #expect(!answer.contains("sesame"))
    }

    private func counts(_ server: ScriptedServer) -> [String] {
        server.requests.map { request in
            let value = request.values(of: "Authorization").first ?? ""
            let nonce = value.firstMatch(of: /nonce="([^"]*)"/)?.1 ?? "-"
            return "\(nonce) \(value.firstMatch(of: /nc=0*([0-9a-f]+)/)?.1 ?? "-")"
        }
    }

    /// RFC 7616 §3.3: a nonce is used for the next requests, with the next count.
    @Test func `ten requests with Digest take eleven exchanges`() async throws {
        let server = try ScriptedServer(scripts: [
            [.read, .send(Self.challenge([Self.digest])), .forEachRequest([.send(Self.ok)])],
            [.forEachRequest([.send(Self.ok)])],
        ])
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        for number in 1...10 {
            let exchange = try await OptionExchange(server.url("/\(number)"), over: dispatcher) {
                $0.authentication = .digest(user: "me", password: "pw")
            }
            #expect(exchange.text == "in")
        }
        #expect(counts(server) == ["- -"] + (1...10).map { "n \(String($0, radix: 16))" })
        // Neither another password nor another kind of connection gets the nonce.
        _ = try await OptionExchange(server.url(), over: dispatcher) {
            $0.authentication = .digest(user: "me", password: "other")
        }
        _ = try await OptionExchange(server.url(), over: dispatcher) {
            $0.authentication = .digest(user: "me", password: "pw")
            $0.connection.interface = "127.0.0.1"
        }
        #expect(counts(server)[11...] == ["- -", "- -"])
        await dispatcher.shutDown(within: .zero)
    }

    @Test func `a nonce that is too old is replaced, and the next one is taken`() async throws {
        let stale = Self.challenge([#"Digest realm="r", nonce="n2", qop="auth", stale=true"#])
        let next =
            Script.head(200, fields: [("Content-Length", "2"), ("Authentication-Info", #"nextnonce="n3", qop=auth"#)])
            + Data("in".utf8)
        let server = try ScriptedServer([
            .read, .send(Self.challenge([Self.digest])), .read, .send(Self.ok), .read, .send(stale), .read, .send(next),
            .read, .send(Self.ok), .read, .send(Self.challenge([#"Digest realm="r", nonce="n4", qop="auth""#])), .read,
            .send(Self.ok), .stall,
        ])
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        for _ in 0..<4 {
            let exchange = try await OptionExchange(server.url(), over: dispatcher) {
                $0.authentication = .digest(user: "me", password: "pw")
            }
            #expect(exchange.text == "in")
        }
        // Of a remembered nonce, no server says whether it or the password is refused.
        #expect(counts(server) == ["- -", "n 1", "n 2", "n2 1", "n3 1", "n3 2", "n4 1"])
        await dispatcher.shutDown(within: .zero)
    }

    @Test func `Digest sends a body again`() async throws {
        let body = Data(repeating: 0x61, count: 100_000)
        let server = try Self.challenging(Self.digest)
        defer { server.stop() }
        let exchange = try await OptionExchange(server.url(), body: body) {
            $0.authentication = .digest(user: "me", password: "pw")
        }
        #expect(exchange.text == "in")
        #expect(server.requests.last?.body == body)
    }

    @Test(arguments: ["denied", ""])
    func `a refusal of the credentials is a response`(body: String) async throws {
        let server = try Self.challenging(Self.digest, then: Self.challenge([Self.digest], body: body))
        defer { server.stop() }
        let exchange = try await OptionExchange(server.url()) {
            $0.authentication = .digest(user: "me", password: "wrong")
        }
        #expect(exchange.status == 401)
        #expect(exchange.text == body)
        #expect(server.requests.count == 2)
    }

    /// Regression: the challenge counted as the response, and only the idle timeout ended the wait for a server that
    /// stayed silent after it.
    @Test(arguments: [true, false])
    func `the first byte's timeout is for each round`(keepsConnection: Bool) async throws {
        let challenge = Self.challenge([Self.digest])
        let rest: [Script.Step] = keepsConnection ? [.read, .stall] : [.close]
        let server = try ScriptedServer(scripts: [Script([.read, .send(challenge)] + rest), [.read, .stall]])
        defer { server.stop() }
        await #expect {
            _ = try await OptionExchange(server.url()) {
                $0.authentication = .digest(user: "me", password: "pw")
                // The challenge has to arrive within it.
                $0.firstByteTimeout = .seconds(2 * patienceFactor)
            }
        } throws: {
            let error = $0 as? NetworkError
            return error?.code == .firstByteTimeout && error?.phase == .waiting
        }
        try await server.wait { $0.requests.count >= 2 }
        #expect(server.requests.count == 2)
    }

    /// Regression: the error was that of a truncated body.
    @Test
    func `a connection that is lost after the challenge is lost while waiting`() async throws {
        let server = try ScriptedServer(
            scripts: [[.read, .send(Self.challenge([Self.digest])), .close], [.read, .reset]])
        defer { server.stop() }
        await #expect {
            _ = try await OptionExchange(server.url()) {
                $0.authentication = .digest(user: "me", password: "pw")
            }
        } throws: {
            let error = $0 as? NetworkError
            return error?.code == .connectionLost && error?.phase == .waiting
        }
    }

    @Test func `anySafe takes Digest, and never Basic in clear`() async throws {
        let both = try Self.challenging(#"Basic realm="r""#, Self.digest)
        defer { both.stop() }
        let exchange = try await OptionExchange(both.url()) {
            $0.authentication = .anySafe(user: "me", password: "pw")
        }
        #expect(exchange.text == "in")
        #expect(both.requests.last?.values(of: "Authorization").first?.hasPrefix("Digest ") == true)

        let basic = try Self.challenging(#"Basic realm="r""#)
        defer { basic.stop() }
        let refused = try await OptionExchange(basic.url()) {
            $0.authentication = .anySafe(user: "me", password: "pw")
        }
        #expect(refused.status == 401)
        #expect(basic.requests.map { $0.values(of: "Authorization") } == [[]])
    }

    @Test func `an AWS signature signs the request`() async throws {
        try await withServer(.ok("in")) { server in
            _ = try await OptionExchange(server.url("/bucket")) {
                $0.authentication = .awsSigV4(
                    .init(keyID: "AKID", secretKey: "do/not/tell", region: "eu-central-1", service: "s3"))
            }
            let seen = try #require(server.requests.first)
            let signature = try #require(seen.values(of: "Authorization").first)
            #expect(signature.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/"))
            #expect(signature.contains("/eu-central-1/s3/aws4_request"))
            #expect(seen.values(of: "X-Amz-Date").count == 1)
            #expect(!seen.head.contains("do/not/tell"))
        }
    }

    private static func capitalized(_ path: Substring) -> String {
        let parts = path.split(separator: "%", omittingEmptySubsequences: false)
        return parts.indices.map { index in
            index == 0 ? String(parts[0]) : parts[index].prefix(2).uppercased() + parts[index].dropFirst(2)
        }.joined(separator: "%")
    }

    private static let oddPaths = [
        "/a/b/%2e%2e/c", "/a/%2E%2E/%2E%2E/x", "/a/.%2e/c", "/a/%2e./c", "/a/%2e/c", "/a/%2e", "/%2e%2e", "/a/..%2fb",
        "/a/%2e%2e%2fb", "/a//b", "//a", "/a/b;x/../c", "/a/./b", "/a/.", "/a/...", "/.a/..b", "/a%2Fb", "/%41%7e",
        "/a%20b", "/*", "/a+b", "/a=b&c", "/caf\u{E9}", "/%e9", "/a/%252e%252e/b", "/?", "/?q=%2e%2e/..", "/a/../?..",
    ]

    /// The path on the wire, signed or not, is the URL's own.
    @Test(arguments: oddPaths, [false, true])
    func `the path that goes out is the URL's`(path: String, isSigned: Bool) async throws {
        try await withServer(.ok("in")) { server in
            let url = try RequestURL(server.url(path))
            _ = try await OptionExchange(server.url(path)) {
                guard isSigned else { return }
                $0.authentication = .awsSigV4(
                    .init(keyID: "AKID", secretKey: "key", region: "eu-central-1", service: "s3"))
            }
            let target = try #require(server.requests.first).target
            let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            // Newer libcurl versions write escapes in capitals, which is the same path (RFC 3986 §6.2.2.1), or omit an
            // empty query.
            #expect(Self.capitalized(parts[0]) == Self.capitalized(url.path[...]))
            #expect(parts.count == 1 ? url.query?.isEmpty != false : String(parts[1]) == url.query)
        }
    }
}
