import ArgumentParser
import Foundation
import NetworkLayer
import Testing
import ToolSupport

@testable import netlayer

/// The options of `fetch` that have curl's names, and what they mean.
@Suite(.patience(minutes: 1)) struct WireFlagsTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let words: [String]
        let change: @Sendable (inout TransportOptions) -> Void
        var testDescription: String { words.joined(separator: " ") }

        init(_ words: String, _ change: @escaping @Sendable (inout TransportOptions) -> Void) {
            self.words = words.split(separator: " ").map(String.init)
            self.change = change
        }
    }

    static let pin = "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="

    /// Each as `curlCommand` writes it.
    static let rows: [Row] = [
        Row("--http1.0") { $0.httpVersion = .http1_0 },
        Row("--http1.1") { $0.httpVersion = .http1_1 },
        Row("--http2") { $0.httpVersion = .http2 },
        Row("--http2-prior-knowledge") { $0.httpVersion = .http2PriorKnowledge },
        Row("--http3") { $0.httpVersion = .http3 },
        Row("--http3-only") { $0.httpVersion = .http3Only },
        Row("--connect-timeout 2.500") { $0.connectTimeout = .milliseconds(2_500) },
        Row("--max-time 7.000") { $0.totalTimeout = .seconds(7) },
        Row("--digest --user ada:s:t") { $0.authentication = .digest(user: "ada", password: "s:t") },
        Row("--aws-sigv4 aws:amz:here:s3 --user key:secret") {
            $0.authentication = .awsSigV4(.init(keyID: "key", secretKey: "secret", region: "here", service: "s3"))
        },
        Row("--tlsv1.3") { $0.tls.minimumVersion = .tls1_3 },
        Row("--tlsv1.1 --tls-max 1.2") {
            $0.tls.minimumVersion = .tls1_1
            $0.tls.maximumVersion = .tls1_2
        },
        Row("--tlsv1.2 --cacert /a.pem") { $0.tls.authorities = .file("/a.pem") },
        Row("--tlsv1.2 --capath /a") { $0.tls.authorities = .directory("/a") },
        Row("--tlsv1.2 --cert /c.pem --key /k.pem --pass word") {
            $0.tls.clientCertificate = .init(.file("/c.pem"), key: .file("/k.pem"), password: "word")
        },
        Row("--tlsv1.2 --cert /c.pem") { $0.tls.clientCertificate = .init(.file("/c.pem")) },
        Row("--tlsv1.2 --pinnedpubkey \(pin);\(pin)") { $0.tls.pinnedPublicKeys = [pin, pin] },
        Row("--tlsv1.2 --ciphers A:B --tls13-ciphers C") {
            $0.tls.ciphers = "A:B"
            $0.tls.cipherSuites = "C"
        },
        Row("--noproxy *") { $0.proxy = .none },
        Row("--proxy socks5h://h:1 --noproxy a,b --proxy-user p:q") {
            var proxy = TransportOptions.Proxy.Server("socks5h://h:1", user: "p", password: "q")
            proxy.noProxy = ["a", "b"]
            $0.proxy = .explicit(proxy)
        },
        Row("--proxy https://h:1 --noproxy a --proxy-user p:q --proxy-digest --proxytunnel --proxy-cacert /a") {
            var proxy = TransportOptions.Proxy.Server("https://h:1", user: "p", password: "q")
            proxy.authenticationScheme = .digest
            proxy.noProxy = ["a"]
            proxy.tunnel = true
            proxy.authorities = .file("/a")
            $0.proxy = .explicit(proxy)
        },
        Row("--ipv4") { $0.connection.ipVersion = .v4 },
        Row("--ipv6") { $0.connection.ipVersion = .v6 },
        Row("--unix-socket /s") { $0.connection.unixSocket = .path("/s") },
        Row("--abstract-unix-socket s") { $0.connection.unixSocket = .abstract("s") },
        Row("--interface lo") { $0.connection.interface = "lo" },
        Row("--local-port 4000-4010") { $0.connection.localPorts = 4000...4010 },
        Row("--keepalive-time 5") {
            var keepAlive = TransportOptions.Connection.KeepAlive()
            (keepAlive.idle, keepAlive.interval) = (.seconds(5), .seconds(5))
            $0.connection.keepAlive = keepAlive
        },
        Row("--keepalive-cnt 3") {
            $0.connection.keepAlive = .init()
            $0.connection.keepAlive?.probes = 3
        },
        Row("--happy-eyeballs-timeout-ms 3") { $0.connection.happyEyeballsDelay = .milliseconds(3) },
        Row("--expect100-timeout 3.000") { $0.expectContinue = .seconds(3) },
        Row("--curves X25519:P-256") { $0.tls.groups = "X25519:P-256" },
        Row("--sigalgs ed25519") { $0.tls.signatureAlgorithms = "ed25519" },
        Row("--resolve h:80:1.2.3.4,::1 --resolve i:81:::2") {
            $0.names.addresses = [.init("h", port: 80, ["1.2.3.4", "::1"]), .init("i", port: 81, ["::2"])]
        },
        Row("--connect-to h:80:[::1]:81 --connect-to :::82") {
            $0.names.connectTo = [
                .init("h", port: 80, toHost: "[::1]", toPort: 81), .init(toPort: 82),
            ]
        },
        Row("--doh-url https://d/q") { $0.names.dnsOverHTTPS = "https://d/q" },
        Row("--limit-rate 2048") { ($0.rate.maximumReceivedPerSecond, $0.rate.maximumSentPerSecond) = (2048, 2048) },
        Row("--speed-limit 10 --speed-time 20") { $0.rate.lowSpeed = .init(bytesPerSecond: 10, for: .seconds(20)) },
    ]

    /// Regression: the password was taken for a part of the path, which errors and curl commands show.
    @Test func `a certificate's password may follow its file, as with curl`() async throws {
        let words = ["http://h/", "-E", #"/c\:d\\e.pem:pass:word"#]
        let request = try await FetchCommand.parse(words).request()
        #expect(
            request.options.tls.clientCertificate == .init(.file(#"/c:d\e.pem"#), password: "pass:word"))
        #expect(!request.curlCommand().contains("pass:word"))
        #expect(WireFlags.parts(of: #"C:\"#).file == "C" && WireFlags.parts(of: "/a").password == nil)
    }

    @Test(arguments: rows)
    func `each flag is an option, and the curl command of the option has the flag`(row: Row) async throws {
        let request = try await FetchCommand.parse(["http://h/"] + row.words).request()
        var expected = TransportOptions()
        row.change(&expected)
        #expect(request.options == expected)

        // A shell's quotes aside.
        let command = request.curlCommand(secrets: .revealed).replacing("'", with: "")
        #expect(command.contains(" " + row.words.joined(separator: " ")), "\(command)")
    }

    @Test(arguments: [("--limit-rate 1k", 1 << 10), ("--limit-rate 3M", 3 << 20), ("--limit-rate 2G", 2 << 30)])
    func `rates have units`(words: String, bytes: Int) async throws {
        let arguments = words.split(separator: " ").map(String.init)
        let request = try await FetchCommand.parse(["http://h/"] + arguments).request()
        #expect(request.options.rate.maximumReceivedPerSecond == bytes)
    }

    /// curl's own `--anyauth` sends Basic in clear, and NTLM.
    @Test func `the strongest scheme has no flag of its own in a curl command`() async throws {
        let words = ["-u", "a:b", "--anyauth", "-x", "http://p:1", "-U", "c:d", "--proxy-anyauth"]
        for (url, schemes) in [("http://h/", "--digest"), ("https://h/", "--basic --digest")] {
            let request = try await FetchCommand.parse([url] + words).request()
            #expect(request.options.authentication == .anySafe(user: "a", password: "b"))
            let command = request.curlCommand(secrets: .revealed)
            #expect(command.contains(" \(schemes) --user a:b ") && !command.contains("anyauth"), "\(command)")
            #expect(command.contains(" --proxy-digest --proxytunnel"))
        }
    }

    @Test func `a value may follow its short name at once, as with curl`() async throws {
        let joined = [
            "fetch", "http://h/", "-XPUT", "-Ha: b=c", "-d=text", "-m3", "-xhttp://p:1", "-Ua:b", "-E/c",
            "-uc:opensesame=", "-r0-1", "-H", "-Ud: e",
        ]
        let request = try await FetchCommand.parse(Array(CommandWords.separated(joined).dropFirst())).request()
        #expect(request.method == .put && request.body?.bytes == Data("=text".utf8))
        #expect(request.headerFields.map(\.value).starts(with: ["b=c", "e"]))
        #expect(request.options.totalTimeout == .seconds(3))
        #expect(request.options.authentication == .basic(user: "c", password: "opensesame="))
        #expect(request.options.tls.clientCertificate == .init(.file("/c")))
        // Not of other commands, not of a value, and not behind the end of options.
        for words in [["run", "-Xa"], ["fetch", "-H", "-Xa"], ["fetch", "--", "-Xa"]] {
            #expect(CommandWords.separated(words) == words)
        }
    }

    @Test func `short names are curl's`() async throws {
        let words = ["-0", "-4", "-m", "3", "-x", "http://p:1", "-U", "a:b", "-p", "-E", "/c", "-u", "c:d"]
        let options = try await FetchCommand.parse(["http://h/"] + words).request().options
        #expect(options.httpVersion == .http1_0)
        #expect(options.connection.ipVersion == .v4)
        #expect(options.totalTimeout == .seconds(3))
        #expect(options.tls.clientCertificate == .init(.file("/c")))
        #expect(options.authentication == .basic(user: "c", password: "d"))
        guard case .explicit(let proxy) = options.proxy else { throw Unexpected() }
        #expect(proxy.tunnel && proxy.user == "a" && proxy.password == "b")
    }

    /// Regression: the blank was refused, as a part of the second one.
    @Test func `the hosts without a proxy may have blanks around their commas`() async throws {
        let words = ["http://h/", "-x", "http://p:1", "--noproxy", "fe80::/10, ::1/64 ,a.test"]
        let options = try await FetchCommand.parse(words).request().options
        guard case .explicit(let proxy) = options.proxy else { throw Unexpected() }
        #expect(proxy.noProxy == ["fe80::/10", "::1/64", "a.test"])
    }

    private struct Unexpected: Error {}

    @Test(arguments: [
        ["--proxy-user", "secret:word"], ["--proxytunnel"], ["--noproxy", "a"], ["-x", "http://h:1", "-U", "secret"],
        ["-x", "http://h:1", "--proxy-digest"], ["-x", "http://h:1", "--proxy-header", "secret"],
        ["--key", "/k"], ["--pass", "secret"], ["--cacert", "/a", "--capath", "/b"], ["--tls-max", "1.4"],
        ["--ipv4", "--ipv6"], ["--http2", "--http3"], ["--unix-socket", "/a", "--abstract-unix-socket", "b"],
        ["--speed-time", "3"], ["--limit-rate", "x"], ["--limit-rate", "9999999999999G"], ["--local-port", "9-8"],
        ["--local-port", "x"], ["--resolve", "h"], ["--resolve", "h:80"], ["--resolve", "h:x:1.2.3.4"],
        ["--connect-to", "a:1:b"], ["--connect-to", "[::1:1:b:2"], ["--connect-timeout", "0"],
        ["--option", "curves=secret"],
        ["--aws-sigv4", "aws:amz"], ["--aws-sigv4", "a:b:c:d:e", "-u", "a:secret"],
    ])
    func `options that make no sense are refused, without secrets`(words: [String]) {
        #expect {
            try FetchCommand.parse(["http://h/"] + words)
        } throws: { !FetchCommand.message(for: $0).contains("secret") }
    }

    @Test func `a body may be a file's bytes`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data([0, 255, 10]).write(to: file)
        let fromFile = try await FetchCommand.parse(["http://h/", "-d", "@\(file.path)"]).request()
        #expect(fromFile.body?.bytes == Data([0, 255, 10]))
        // One Character, but the mark is part of the name.
        #expect(try FetchCommand.parse(["http://h/", "-d", "@\u{301}f"]).flags.file == "\u{301}f")
        let literal = try await FetchCommand.parse(["http://h/", "--data-raw", "@\(file.path)"]).request()
        #expect(literal.body?.bytes == Data("@\(file.path)".utf8))
    }
}
