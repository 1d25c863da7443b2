import Foundation
import Testing

@testable import NetworkCore

@Suite("Digest challenges")
struct DigestChallengeTests {
    private static func challenges(_ fields: String...) -> [AuthenticationChallenge] {
        fields.flatMap { AuthenticationChallenge.all(in: $0) }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    /// Regression: the credentials were a header field that is too long, and the server's 401 was lost.
    @Test func `a challenge to a request with a long target is the response`() async throws {
        let answer = AnsweringTransport.Answer(status: 401, fields: [.wwwAuthenticate: #"Digest realm="r", nonce="n""#])
        let transport = AnsweringTransport(answer)
        var request = TransportRequest(url: try RequestURL("http://h/?" + String(repeating: "x", count: 65_500)))
        request.options.authentication = .digest(user: "me", password: "pw")
        let response = try await request.authenticated { round in
            var round = round
            round.url = try RequestURL("http://h/")
            return try await transport.send(round)
        }
        #expect(response.status == .unauthorized && transport.requests.count == 1)
    }

    /// Regression: the stream was lost to the round that was over, and the next one failed.
    @Test func `a stream that begins while the challenge is handled is sent by the next round`() async throws {
        var request = TransportRequest(method: .post, url: try RequestURL("http://h/"))
        request.options.authentication = .digest(user: "me", password: "pw")
        request.body = .stream(AsyncStream { Data("body".utf8) }.prefix(1))
        let response = try await request.authenticated { round in
            guard round.headerFields[.authorization] == nil else {
                let body = try await round.body?.collect(upTo: 100)
                return TransportResponse(head: HTTPResponse(status: .ok), body: .init(body ?? Data()))
            }
            let head = HTTPResponse(
                status: .unauthorized, headerFields: [.wwwAuthenticate: #"Digest realm="r", nonce="n""#])
            return TransportResponse(head: head, body: .init(source: LateBeginning(of: round)))
        }
        #expect(response.status == .ok)
        #expect(try await response.body.collect() == Data("body".utf8))
    }

    @Test func `a stream that has begun when the challenge comes leaves the challenge to the caller`() async throws {
        var request = TransportRequest(method: .post, url: try RequestURL("http://h/"))
        request.options.authentication = .digest(user: "me", password: "pw")
        request.body = .stream(AsyncStream { Data("body".utf8) }.prefix(1))
        let response = try await request.authenticated { round in
            _ = try await round.body?.collect(upTo: 100)
            return TransportResponse(
                head: HTTPResponse(
                    status: .unauthorized, headerFields: [.wwwAuthenticate: #"Digest realm="r", nonce="n""#]),
                body: .init(Data()))
        }
        #expect(response.status == .unauthorized)
    }

    /// A response's body that is read after the challenge was handled, and whose exchange only then begins to read the
    /// request's body.
    private final class LateBeginning: TransportResponse.BodySource {
        private let request: TransportRequest

        init(of request: TransportRequest) { self.request = request }

        func next() async throws -> Data? { try await collect(upTo: nil) }

        func collect(upTo limit: Int?) async throws -> Data {
            await #expect(throws: CancellationError.self) { try await request.body?.collect(upTo: 100) }
            return Data()
        }

        var metrics: TransportMetrics { TransportMetrics(total: .zero) }
        var trailers: HTTPFields? { nil }
    }

    /// RFC 1321, appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func `MD5 has the RFC's results`(text: String, digest: String) {
        #expect(Self.hexadecimal(MD5.digest(text.utf8)) == digest)
    }

    /// The lengths around the end of a block, against the md5sum of the same bytes.
    @Test func `MD5 pads around the end of a block`() {
        let known = [
            55: "ef1772b6dff9a122358552954ad0df65", 56: "3b0c8ac703f828b04c6c197006d17218",
            63: "b06521f39153d618550606be297466d5", 64: "014842d480b571495a4a0363793f7367",
            119: "8a7bd0732ed6a28ce75f6dabc90e1613", 120: "5f61c0ccad4cac44c75ff505e1f1e537",
        ]
        for (count, digest) in known {
            #expect(Self.hexadecimal(MD5.digest(String(repeating: "a", count: count).utf8)) == digest, "\(count)")
        }
    }

    /// RFC 7616 §3.9.1.
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the RFC's example has the RFC's response`(algorithm: String, response: String) throws {
        let field =
            #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\#(algorithm), "#
            + #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "#
            + #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
        let challenge = try #require(Self.challenges(field).first.flatMap(DigestChallenge.init))
        let value = challenge.authorization(
            user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(value.contains(#"response="\#(response)""#), "\(value)")
        #expect(value.contains(#"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#))
        #expect(value.contains("algorithm=\(algorithm)") && value.contains("qop=auth, nc=00000001"))
    }

    /// RFC 2617 §3.5, without a quality of protection as in RFC 2069.
    @Test func `a challenge without a quality of protection has the older response`() throws {
        let field = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#
        let challenge = try #require(Self.challenges(field).first.flatMap(DigestChallenge.init))
        let value = challenge.authorization(
            user: "Mufasa", password: "Circle Of Life", method: "GET", target: "/dir/index.html", clientNonce: "x")
        #expect(value.contains(#"response="670fd8c2df070c60b045671b8b24ff02""#), "\(value)")
        #expect(!value.contains("qop") && !value.contains("cnonce") && !value.contains("algorithm"))
    }

    @Test func `the user's name is hashed where the challenge says so`() throws {
        let field = #"Digest realm="r", nonce="n", userhash=true"#
        let challenge = try #require(Self.challenges(field).first.flatMap(DigestChallenge.init))
        let value = challenge.authorization(
            user: "ada", password: "p", method: "GET", target: "/", clientNonce: "x")
        let hash = Self.hexadecimal(MD5.digest("ada:r".utf8))
        #expect(value.contains("username=\"\(hash)\"") && value.contains("userhash=true"))
    }

    @Test func `quotes and backslashes stay within their texts`() throws {
        let field = #"Digest realm="a\"b\\c", nonce="n\"m""#
        let challenge = try #require(Self.challenges(field).first.flatMap(DigestChallenge.init))
        let value = challenge.authorization(
            user: #"a"b\c"#, password: "p", method: "GET", target: "/", clientNonce: "x")
        #expect(value.hasPrefix(#"Digest username="a\"b\\c", realm="a\"b\\c", nonce="n\"m", uri="/""#), "\(value)")
    }

    @Test(arguments: [
        #"Basic realm="r""#, "Digest", #"Digest realm="r""#, #"Digest nonce="n", algorithm=SHA-512-256"#,
        #"Digest nonce="n", qop="auth-int""#, #"Digest nonce="n"#, "Bearer nonce=n", #"Digest nonce="n", qop="""#,
    ])
    func `a challenge that is not understood is none`(field: String) {
        #expect(Self.challenges(field).compactMap(DigestChallenge.init).isEmpty)
    }

    @Test(arguments: [
        (#"Basic realm="a, Digest nonce=1", Digest nonce="2""#, ["basic", "digest"], "2"),
        (#"Negotiate, Digest nonce=x"#, ["negotiate", "digest"], "x"),
        (#"Negotiate YII=, NTLM TlRM==, Digest nonce = "x y""#, ["negotiate", "ntlm", "digest"], "x y"),
        (#",, Digest ,nonce="a",, realm=b,"#, ["digest"], "a"),
        ("DIGEST NONCE=a, nonce=b", ["digest"], "a"), ("Digest\trealm=\"\",\tnonce=\"\"", ["digest"], ""),
    ])
    func `a field may have several challenges`(field: String, schemes: [String], nonce: String) {
        let challenges = Self.challenges(field)
        #expect(challenges.map(\.scheme) == schemes)
        #expect(challenges.last?["nonce"] == nonce)
    }

    /// A quote and a mark that combines with it are one Character.
    @Test func `a quote is escaped, whatever follows it`() throws {
        let challenge = try #require(Self.challenges(#"Digest realm="a\"\#u{301}", nonce="n""#).first)
        let value = try #require(DigestChallenge(challenge)).authorization(
            user: "u\"\u{301}v", password: "p", method: "GET", target: "/", clientNonce: "c")
        #expect(value.contains("username=\"u\\\"\u{301}v\", realm=\"a\\\"\u{301}\", "), "\(value)")
    }

    /// Regression: the field with such a nonce was the caller's error, and the server's 401 was lost.
    @Test func `an enormous challenge has no response`() throws {
        let challenge = Self.challenges("Digest nonce=" + String(repeating: "a", count: 70_000))
        #expect(challenge.compactMap(DigestChallenge.init).isEmpty && challenge.count == 1)
    }

    /// Whatever a server writes is read to its end, once.
    @Test func `no field is read for long`() {
        for filler in ["a=", "a=\"", "a ", ",", "=", "\"", "\\", "Digest a=b,", "Digest ,"] {
            let field = String(repeating: filler, count: 20_000)
            #expect(Self.challenges("Digest " + field).count <= 20_001)
        }
    }

    @Test(arguments: ["MD5-sess", "SHA-256-sess"]) func `a session without a quality can't be used`(algorithm: String) {
        let start = "Digest realm=\"r\", nonce=\"n\", algorithm=\(algorithm)"
        #expect(Self.challenges(start).compactMap { DigestChallenge($0) }.isEmpty)
        #expect(Self.challenges("\(start), qop=\"auth\"").compactMap { DigestChallenge($0) }.count == 1)
    }
}
