import Foundation
import HTTPTypes
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

@Suite("Redaction of printed text")
struct RedactionTests {
    /// Regression: a server's text of 64 KiB took a quarter of a second, and each of a log's fields again.
    @Test func `the time does not grow with the square of the length`() {
        func time(_ count: Int) -> Duration {
            let text = String(repeating: "//a:1", count: count)
            return cost(rounds: 3) { _ = Redaction().url(text) }
        }
        // Sixteen times the text: 16 times the time, or 256 times.
        #expect(time(16_000) < max(time(1_000), .microseconds(200)) * 80)
    }

    private static let pieces = [
        "/", "\\", "http:", "//", ":", "@", "?", "#", "a", "1", "%", "'", "\"", " ", "[", "eyJ", ".", "=", "&",
        "Basic ",
    ]

    /// Regression: a field of `http:\http:\…` took a second of each 240 KB, and no timeout ended it.
    @Test(arguments: pieces)
    func `no text takes more than in proportion to its length`(_ first: String) async throws {
        let printers: [(String) -> Void] = [
            { _ = Redaction().url($0) }, { _ = Redaction().text($0) }, { _ = Redaction().text($0, isField: true) },
            { _ = Redaction().lines(of: $0, "*") },
        ]
        let length = 4_000
        let usual = String(repeating: "http://h/a ", count: length / 11)
        let most = printers.map { print in cost(rounds: 2) { print(usual) } }.max() ?? .zero
        let place = try #require(Self.pieces.firstIndex(of: first))
        // A pair and its reverse, repeated, are the same but for their ends.
        for second in [""] + Self.pieces[place...] {
            // Lets tests that wait for a peer go on.
            await Task.yield()
            let unit = first + second
            let text = String(repeating: unit, count: length / unit.utf8.count)
            for end in ["", "/@h", "'"] {
                for print in printers {
                    #expect(!costsMore(than: most * 15) { print(text + end) }, "\(unit)…\(end)")
                }
            }
        }
    }

    @Test(arguments: [
        ("https://h/p", "https://h/p"), ("https://h:8443/p?a=1#b", "https://h:8443/p?…"),
        ("https://u:p@h/x", "https://h/x"),
        ("https://u@h/x", "https://h/x"), ("https://u:p@h:80/x@y", "https://h:80/x@y"),
        ("https://u:p@q@h/", "https://h/"),
        ("https://u:pa/ss@h/x", "https://…"), ("https://u:pa?ss@h/x", "https://…?…"),
        ("https://u:pa#ss@h", "https://…#…"),
        ("https://u:pass", "https://…"), ("HTTPS:\\\\u:p@h\\x", "HTTPS:\\\\h\\x"), ("https:/u:p@h/", "https:/h/"),
        ("https:u:p@h/", "https:h/"), ("//u:p@h/p", "//h/p"), ("u:p@h:1/x", "h:1/x"), ("u:pa/ss@h", "…"),
        ("/p?a", "/p?…"),
        ("https://[::1]:80/p", "https://[::1]:80/p"), ("https://u:p@[::1]/", "https://[::1]/"), ("#a", "#…"),
        ("?a", "?…"),
        ("https://h/a b?c d", "https://h/a b?…"), ("https://h/?\u{301}secret", "https://h/?…"), ("", ""),
        ("https://medium.com/@user/story", "https://medium.com/@user/story"),
    ])
    func `a URL loses its user, password, query, and fragment, in any form`(url: String, shown: String) {
        #expect(Redaction().url(url) == shown)
    }

    @Test(arguments: [
        ("what? no, #1 and (#0)", "what? no, #1 and (#0)"),
        ("from 'http://u:p@h/a?b=c', then", "from '…"), ("from http://h/a?b=c then", "from http://h/a?… then"),
        ("a@b.example", "a@b.example"), ("proxy == 'u:p@h:1'", "proxy == '…"), ("http://h/?", "http://h/?"),
        ("see (http://h/#frag)", "see (http://h/#…"), ("eyJhbGciOiJIUzI1NiJ9.e30.abc", "…"), ("", ""),
        ("a=http://u:p@h,b=http://v:q@i", "a=http://…"), ("/a?token=x y", "/a?… y"),
    ])
    func `a text loses the secrets of its URLs and keeps its words`(text: String, shown: String) {
        #expect(Redaction().text(text) == shown)
    }

    @Test
    func `redacting a redacted text changes nothing`() {
        for secret in CanarySecret.all {
            for text in [
                secret.value, "http://\(secret.value)/?\(secret.value)", String(repeating: secret.value, count: 200),
            ] {
                let redaction = Redaction()
                let once = redaction.text(text)
                #expect(redaction.text(once) == once)
                #expect(once.utf8.count <= Redaction.maximumBytes)
                #expect(redaction.url(redaction.url(text)) == redaction.url(text))
            }
        }
    }

    @Test(arguments: [
        ("X-Auth-Key", true), ("x-oauth2", true), ("authority", false), ("X-Author", false),
        ("Authorization", true),
        ("Authorisation", true), ("Idempotency-Key", false), ("Monkey", true), ("Keys", false), ("X-Design", false),
        ("X-Sign", true), ("Signed-At", false), ("X-JWT", true), ("Content-Type", false), ("Pinned", false),
        ("X-Pin", true), ("DPoP", true), ("Api_Key", true), ("Accept", false), ("User-Agent", false),
        ("Sec-WebSocket-Key", false),
        ("X-Passwd", true), ("Host", false), ("ETag", false), ("Traceparent", false), ("X-Request-Id", false),
    ])
    func `field names decide which fields are secret`(name: String, isSecret: Bool) throws {
        #expect(SecretFields.contains(try #require(HTTPField.Name(name))) == isSecret)
    }

    @Test(arguments: [90_000, 1_000_000])
    func `the text of an error has a limit, whatever the server sends`(count: Int) async throws {
        let long = String(repeating: "x", count: count)
        let type = NetworkClient(
            transport: AnsweringTransport(.init(fields: [.contentType: "text/\(long)"], body: "1"))
        )
        .with { $0.validation = .contentTypes("application/json") }
        let refused = await expectFailure(.unacceptableContentType) {
            try await type.send(RequestData(path: "http://h/"), as: .data).body
        }
        let below = NetworkError.Underlying(domain: "d\(long)", code: 1, message: long)
        var error = NetworkError(.init(rawValue: long), long, underlying: below)
        error.message = long
        error.exchange = .init(method: long, url: "http://h/\(long)", transport: long, elapsed: .seconds(Int64.min))
        for text in [try #require(refused).description, error.message, below.message, error.description] {
            #expect(text.utf8.count < 8 * Redaction.maximumBytes)
        }
        #expect(try #require(refused).description.utf8.count < 400)
    }

    @Test(arguments: ["\u{1B}[2J", "a\u{7}", "\u{7F}"])
    func `a field with a control character is refused before anything is sent`(value: String) async throws {
        let transport = AnsweringTransport(.init())
        // The other initializer replaces them with spaces.
        let field = HTTPField(name: try #require(HTTPField.Name("X-A")), lenientValue: value.utf8)
        var fields: HTTPFields = [:]
        fields.append(field)
        let request = try TransportRequest.make(.get, "http://h/", fields: fields)
        await expectFailure(.invalidHeaderField) {
            try await NetworkClient(transport: transport).send(request, as: .stream).status
        }
        #expect(transport.requests.isEmpty)
        var proxied = TransportRequest(url: try RequestURL("http://h/"))
        var proxy = TransportOptions.Proxy.Server("http://p:1")
        proxy.headerFields = fields
        proxied.options.proxy = .explicit(proxy)
        expectFailure(.invalidHeaderField) { try proxied.options.check() }
    }

    @Test
    func `a wire log excludes DNS over HTTPS, since libcurl would write its queries to standard error`() throws {
        var request = TransportRequest(url: try RequestURL("http://h/"))
        request.options.names.dnsOverHTTPS = "https://dns/q"
        let all = TransportCapabilities(
            transport: "t", basis: "", supported: Set(TransportCapabilities.Capability.wellKnown))
        try request.check(for: all)
        request.options.wireLog = WireLog(CanaryLog().logger)
        expectFailure(.invalidOption) { try request.check(for: all) }
    }

    @Test
    func `a client's secret fields are secret in each of its requests, also in transport requests`() async throws {
        let own = try #require(HTTPField.Name("X-Own"))
        let log = CanaryLog()
        let transport = AnsweringTransport(.redirect(to: "http://other/"), .init(fields: [own: "secret"]))
        var client = NetworkClient(transport: transport)
        client.secretFields = [own]
        client.interceptors = [.logging(log.logger)]
        client.exchangeInterceptors = [.logging(log.logger)]
        _ = try await client.send(try .make(.get, "http://h/", fields: [own: "secret"]), as: .stream)
        #expect(!log.text.contains("secret") && log.text.contains("X-Own"))
        #expect(transport.requests.map { $0.headerFields[own] } == ["secret", nil])
        #expect(transport.requests.allSatisfy { !$0.curlCommand().contains("secret") })
    }
}
