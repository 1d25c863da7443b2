import HTTPTypes
import Logging
import TestSupport
import Testing

@testable import NetworkCore

@Suite("Secrets in the wire log")
struct WireRedactionTests {
    /// Regression: the name of a damaged `Set-Cookie` is no secret field's.
    @Test(arguments: [
        ("Set-Cosk GET proxokie: sid=1", "Set-Cosk GET proxokie: …"), ("Set-Cookie : sid=1", "Set-Cookie : …"),
        ("Server: a b", "Server: a b"), ("no colon at all", "no colon at all"),
    ])
    func `the value of a received field with a blank in its name is hidden`(line: String, shown: String) {
        #expect(Redaction().lines(of: line + "\r\n", "<") == [shown])
    }

    @Test(arguments: [
        ("Authorization: Bearer abc", "Authorization: …"),
        ("AUTHORIZATION:Basic abc", "AUTHORIZATION: …"),
        ("Set-Cookie: sid=1; Path=/", "Set-Cookie: …"),
        ("X-Own: abc", "X-Own: …"),
        ("X-Amz-Security-Token: abc", "X-Amz-Security-Token: …"),
        // One Character with the colon, and letters before the name whose lower case has another length.
        ("Cookie:\u{301}abc", "Cookie: …"),
        ("X-Own:\u{301}abc", "X-Own: …"),
        ("X-Y Cookie: abc", "X-Y Cookie: …"),
        ("Host: example.org", "Host: example.org"),
        ("Location: https://u:p@h/cb#access_token=abc def", "Location: https://h/cb#…"),
        ("location: /cb#12345", "location: /cb#…"),
        ("Referer: //u:p@h/p?x y", "Referer: //h/p?…"),
        ("X-Other: https://u:p@h/cb#access_token=abc", "X-Other: https://h/cb#…"),
        ("X-Other: Bearer abc", "X-Other: …"),
        ("Set-Cookie: a\u{2028}b", "Set-Cookie: …"), ("X-A: 1\u{1B}[2Jx\rY", #"X-A: 1\u{1B}[2Jx\rY"#),
        ("X-A: 1\u{9B}2J", #"X-A: 1\u{009B}2J"#),
    ])
    func `a field loses its secrets`(line: String, expected: String) {
        for direction in ["<", ">"] as [Character] {
            let text = direction == ">" ? "GET / HTTP/1.1\n\(line)\n\n" : line
            #expect(Redaction(secrets: [.own]).lines(of: text, direction).last == expected)
        }
    }

    @Test
    func `a request line loses its query`() {
        for query in ["?api_key=abc", "?q=it's-secret", "?12345"] {
            #expect(Redaction().lines(of: "GET /users\(query) HTTP/1.1", ">") == ["GET /users?… HTTP/1.1"])
        }
    }

    @Test(arguments: [
        ("[x-auth-token: abc]", "[x-auth-token: …"),
        ("Connection #0 to host token.test:443", "Connection #0 to host token.test:443"),
        ("Re-using existing connection! (#0) with host h", "Re-using existing connection! (#0) with host h"),
        ("Connected to h (2001:db8::1) port 443", "Connected to h (2001:db8::1) port 443"),
        ("Trying [2001:db8::1]:443...", "Trying [2001:db8::1]:443..."),
        ("h2h3 [authorization: Bearer abc]", "h2h3 [authorization: …"),
        ("[HTTP/2] [1] [x-own: abc]", "[HTTP/2] [1] [x-own: …"),
        ("[HTTP/2] [1] OPENED stream for https://h/p?key=abc", "[HTTP/2] [1] OPENED stream for https://h/p?…"),
        ("[:authority: example.org]", "[:authority: example.org]"),
        ("[:path: /users?api_key=abc]", "[:path: /users?…"),
        ("Uses proxy env variable http_proxy == 'http://u:p@h:1'", "Uses proxy env variable http_proxy == '…"),
        // A Windows domain before the user, and a password that contains a slash.
        (
            #"Uses proxy env variable http_proxy == 'http://CORP\alice:pw@h:1'"#,
            "Uses proxy env variable http_proxy == '…"
        ),
        (#"Unsupported proxy syntax in 'CORP\alice:pw@h'"#, "Unsupported proxy syntax in '…"),
        ("proxy 'http://u:12345/6789@h'", "proxy '…"),
        ("to URL: 'http://h:80/x'", "to URL: 'http://h:80/x'"),
        // libcurl's text for an HTTP/2 field that nghttp2 refuses.
        (
            "Invalid HTTP header field was received: frame type: 1, stream: 1, name: [set-cookie], value: [sid=abc]",
            "Invalid HTTP header field was received: frame type: 1, stream: 1, name: [set-cookie], value: […"
        ),
        ("Server auth using Basic with user 'ada'", "Server auth using Basic with user '…"),
    ])
    func `a message of libcurl shows nothing that it quotes of a request`(line: String, expected: String) {
        #expect(Redaction(secrets: [.own]).lines(of: line, "*") == [expected])
    }

    @Test
    func `of a libcurl message in several lines, only the first is shown`() {
        #expect(
            Redaction().lines(of: "Trying 1.2.3.4:80...\nb=1&token=secret\n", "*") == ["Trying 1.2.3.4:80...", "…"])
    }

    @Test
    func `only LF ends a line, whatever a server or a caller puts into a value`() {
        for separator in ["\u{2028}", "\u{2029}", "\u{85}", "\u{B}", "\u{C}", "\r", "\r\u{301}"] {
            let text = "Set-Cookie: a=1\(separator)secret\r\nX-A: x\(separator)< HTTP/1.1 200 forged\n"
            let lines = Redaction().lines(of: text, "<")
            #expect(lines.count == 2 && lines.first == "Set-Cookie: …")
            #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { !$0.isInvisible } })
            #expect(!lines.joined().contains("secret"))
        }
    }

    @Test
    func `continuation lines and the reason of a status line are hidden`() {
        let redaction = Redaction()
        #expect(redaction.lines(of: " secret; Path=/\r\n", "<") == ["…"])
        #expect(redaction.lines(of: "\tsecret\r\n", "<") == ["…"])
        #expect(redaction.lines(of: "HTTP/1.1 401 secret\r\n", "<") == ["HTTP/1.1 401"])
        // A head that the socket accepted in two parts.
        #expect(redaction.lines(of: "GET / HTTP/1.1\r\nHost: h\r\nAuthori", ">") == ["GET / HTTP/1.1", "Host: h", "…"])
        #expect(redaction.lines(of: "zation: secret\r\nX-A: b\r\n\r\n", ">") == ["…", "X-A: b"])
    }

    @Test
    func `a line has a limit, and many colons cost little`() {
        for direction in ["<", "*"] as [Character] {
            let lines = Redaction().lines(of: String(repeating: "a:", count: 100_000), direction)
            #expect(lines.allSatisfy { $0.utf8.count <= Redaction.maximumBytes })
        }
    }

    @Test(arguments: [
        ":", "a:", "::a", "x-y:z ", "x: ", " ", "a ", "-", "a-", "_k", "\u{1B}", "\u{85}", "ü", "\u{2028}", "s",
        "a",
        "auth", "author", "tokem", "passphras", "//a:b", "//a@", "http:", "https://u:p@h/?q ", " with user ",
        "header part", "?", "#1", "eyJ.", "Basic ", "\t:", "key:", "location:",
    ])
    func `the cost of a line depends on its length and hardly on its content`(pattern: String) {
        let redaction = Redaction(secrets: [.own])
        let ordinary = Array("x: \(String(repeating: "default-src 'self' h.example; ", count: 140))".utf8.prefix(4096))
        let hostile = Array("x: \(String(repeating: pattern, count: 4096))".utf8.prefix(4096))
        func work(_ line: [UInt8]) -> Duration {
            let text = String(decoding: line, as: UTF8.self)
            return cost(rounds: 3) { _ = redaction.lines(of: text, "<") }
        }
        #expect(work(hostile) < work(ordinary) * 12)
    }

    @Test(arguments: [" ", "\t", " \t ", "\u{B}", "\u{C}", "\u{0}", "\u{A0}", "\u{85}", "\u{2003}"])
    func `secrets are found despite blanks of any kind before the colon or in a value`(blank: String) {
        let redaction = Redaction(secrets: [.own])
        for direction in ["<", ">"] as [Character] {
            for name in ["Set-Cookie", "X-Api-Key", "X-Own", "X-Pin", "Idempotency-Key", "Session.Id", "X.Api.Key"] {
                for line in ["\(name)\(blank):secret", "\(name)\(blank): secret", "\(name): \(blank)secret"] {
                    let text = "GET / HTTP/1.1\r\n\(line)\r\n\r\n"
                    let shown = redaction.lines(of: direction == ">" ? text : line, direction).joined()
                    #expect(!shown.contains("secret"), "\(direction) \(line)")
                    #expect(shown.contains(name), "\(direction) \(line)")
                }
            }
            for scheme in ["Bearer", "basic", "DIGEST", "AWS4-HMAC-SHA256"] {
                let line = "X-Y:\(blank)\(scheme)\(blank)secret"
                let shown = redaction.lines(of: direction == ">" ? "GET / HTTP/1.1\r\n\(line)\n\n" : line, direction)
                #expect(!shown.joined().contains("secret"), "\(direction) \(line)")
            }
            let url = "Location\(blank): https://u:secret@h/a b?secret"
            #expect(!redaction.lines(of: "GET / HTTP/1.1\n\(url)\n\n", direction).joined().contains("secret"))
        }
        #expect(redaction.lines(of: "HTTP/1.1 401\(blank)secret", "<") == ["HTTP/1.1 401"])
        #expect(!redaction.lines(of: "HTTP/1.1\(blank)secret", "<").joined().contains("secret"))
        #expect(Redaction.namesCredentials("\(blank)Bearer\(blank)secret".utf8))
    }

    @Test
    func `the secret fields of a request are secret in its wire log`() throws {
        let log = CanaryLog()
        var options = TransportOptions()
        options.wireLog = WireLog(log.logger, secretFields: [try #require(HTTPField.Name("X-Mine"))])
        options.secretFields = [try #require(HTTPField.Name("X-Own"))]
        options.redactingWireLog?.write("<", "X-Own: secret\nX-Mine: secret\nX-Other: shown\n")
        #expect(log.text.contains("shown") && !log.text.contains("secret"))
        options.secretFields = []
        #expect(options.redactingWireLog == options.wireLog)
    }
}

extension HTTPField.Name {
    fileprivate static let own = Self("X-Own")!
}
