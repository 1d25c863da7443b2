import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// What is particular to this transport: the contract has the rounds themselves.
@Suite("Credentials", .patience(minutes: 1))
struct AuthenticationOptionTests {
    private static func challenge(_ scheme: String) -> Script.Step {
        .respond(401, "denied", fields: [("WWW-Authenticate", scheme)])
    }

    private static let digest = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
    private static let me = TransportOptions.Authentication.digest(user: "me", password: "pw")

    private func counts(_ server: ScriptedServer) -> [String] {
        server.requests.map { request in
            let value = request.values(of: "Authorization").first ?? ""
            let nonce = value.firstMatch(of: /nonce="([^"]*)"/)?.1 ?? "-"
            return "\(nonce) \(value.firstMatch(of: /nc=0*([0-9a-f]+)/)?.1 ?? "-")"
        }
    }

    /// RFC 7616 §3.3: a nonce is used for the next requests, with the next count.
    @Test func `ten requests with Digest take eleven exchanges`() async throws {
        let rest = Script.Step.forEachRequest([.ok("in")])
        try await withServer([.read, Self.challenge(Self.digest), rest], [rest]) { server in
            let dispatcher = CurlNetworkDispatcher()
            for number in 1...10 {
                let exchange = try await Exchange(server.url("/\(number)"), over: dispatcher) {
                    $0.authentication = Self.me
                }
                #expect(exchange.text == "in")
            }
            #expect(counts(server) == ["- -"] + (1...10).map { "n \(String($0, radix: 16))" })
            // Neither another password nor another kind of connection gets the nonce.
            _ = try await Exchange(server.url(), over: dispatcher) {
                $0.authentication = .digest(user: "me", password: "other")
            }
            _ = try await Exchange(server.url(), over: dispatcher) {
                $0.authentication = Self.me
                $0.connection.interface = "127.0.0.1"
            }
            #expect(counts(server)[11...] == ["- -", "- -"])
        }
    }

    @Test func `a nonce that is too old is replaced, and the next one is taken`() async throws {
        func challenge(_ rest: String) -> Script.Step { Self.challenge(#"Digest realm="r", qop="auth", \#(rest)"#) }
        let next = [("Authentication-Info", #"nextnonce="n3", qop=auth"#)]
        try await withServer([
            .read, Self.challenge(Self.digest), .read, .ok("in"), .read, challenge(#"nonce="n2", stale=true"#), .read,
            .respond(200, "in", fields: next), .read, .ok("in"), .read, challenge(#"nonce="n4""#), .read, .ok("in"),
            .stall,
        ]) { server in
            let dispatcher = CurlNetworkDispatcher()
            for _ in 0..<4 {
                let exchange = try await Exchange(server.url(), over: dispatcher) { $0.authentication = Self.me }
                #expect(exchange.text == "in")
            }
            // Of a remembered nonce, no server says whether it or the password is refused.
            #expect(counts(server) == ["- -", "n 1", "n 2", "n2 1", "n3 1", "n3 2", "n4 1"])
        }
    }

    /// Regression: the challenge counted as the response, and only the idle timeout ended the wait for a server that
    /// stayed silent after it.
    @Test(arguments: [true, false])
    func `the first byte's timeout is for each round`(keepsConnection: Bool) async throws {
        let rest: [Script.Step] = keepsConnection ? [.read, .stall] : [.close]
        try await withServer(Script([.read, Self.challenge(Self.digest)] + rest), .stalled) { server in
            await expectFailure(.firstByteTimeout, in: .waiting) {
                try await Exchange(server.url()) {
                    $0.authentication = Self.me
                    // The challenge has to arrive within it.
                    $0.firstByteTimeout = .seconds(2 * patienceFactor)
                }
            }
            try await server.wait { $0.requests.count >= 2 }
            #expect(server.requests.count == 2)
        }
    }

    /// Regression: the error was that of a truncated body.
    @Test func `a connection that is lost after the challenge is lost while waiting`() async throws {
        try await withServer([.read, Self.challenge(Self.digest), .close], .reset) { server in
            _ = await expectFailure(.connectionLost, in: .waiting) {
                try await Exchange(server.url()) { $0.authentication = Self.me }
            }
        }
    }

    private static let signature = TransportOptions.Authentication.awsSigV4(
        .init(keyID: "AKID", secretKey: "do/not/tell", region: "eu-central-1", service: "s3"))

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
            _ = try await Exchange(server.url(path)) { if isSigned { $0.authentication = Self.signature } }
            let target = try #require(server.requests.first).target
            let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            // Newer libcurl versions write escapes in capitals, which is the same path (RFC 3986 §6.2.2.1), or omit an
            // empty query.
            #expect(Self.capitalized(parts[0]) == Self.capitalized(url.path[...]))
            #expect(parts.count == 1 ? url.query?.isEmpty != false : String(parts[1]) == url.query)
        }
    }
}
