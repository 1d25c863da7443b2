import Foundation
import TestSupport
import Testing

@testable import NetworkCore

struct CurlCommandTests {
    private func request(_ url: String, _ fields: HTTPFields = [:]) throws -> TransportRequest {
        TransportRequest(url: try RequestURL(url), headerFields: fields)
    }

    /// Regression: curl knows no brackets, so that the command led to the proxy.
    @Test func `a request past the proxy is one in its command too`() throws {
        var proxy = TransportOptions.Proxy.Server("http://p.test:1")
        proxy.noProxy = ["b.test", "[::1]"]
        for (url, list) in [("http://[::1]/", "'*'"), ("http://a.test/", "'b.test,[::1]'")] {
            var request = try TransportRequest(to: url)
            request.options.proxy = .explicit(proxy)
            #expect(request.curlCommand().contains("--noproxy \(list)"), "\(request.curlCommand())")
        }
    }

    @Test func `a plain request is readable`() throws {
        var request = try request("http://127.0.0.1:3000/users")
        request.headerFields[.userAgent] = "me"
        #expect(
            request.curlCommand()
                == "curl -q --globoff --path-as-is --compressed -H 'User-Agent: me' -H 'Accept: */*' "
                + "-H 'Accept-Encoding: gzip, deflate' http://127.0.0.1:3000/users"
        )
    }

    /// Regression: in a cancelled task the body was not compressed, and was called so.
    @Test func `a command has the compressed body, whatever the task and its time`() async throws {
        var request = try request("http://127.0.0.1:3000/users")
        (request.method, request.body) = (.post, .bytes(Data(repeating: 0x61, count: 300_000)))
        (request.options.requestCompression, request.options.totalTimeout) = (.gzip, .nanoseconds(1))
        let expected = request.curlCommand(secrets: .revealed)
        #expect(expected.utf8.count < 10_000)
        let cancelled = Task { [request] in
            while !Task.isCancelled { await Task.yield() }
            return request.curlCommand(secrets: .revealed)
        }
        cancelled.cancel()
        #expect(await cancelled.value == expected)
    }

    /// curl 8.14 refuses to sign with `--path-as-is`, and `Name:` removes the field instead of sending it empty.
    @Test func `a signed request leaves the path to curl, and an empty proxy field is one`() throws {
        var request = try request("http://127.0.0.1:3000/users")
        request.options.authentication = .awsSigV4(.init(keyID: "a", secretKey: "b"))
        var proxy = TransportOptions.Proxy.Server("http://127.0.0.1:1")
        proxy.headerFields = [try #require(HTTPField.Name("X-Empty")): ""]
        request.options.proxy = .explicit(proxy)
        let command = request.curlCommand()
        #expect(!command.contains("--path-as-is") && command.contains("--aws-sigv4"))
        #expect(command.contains("--proxy-header 'X-Empty;'"))
    }

    /// Regression: the command went to the environment's proxy, which no transport uses then.
    @Test func `a command goes the way of the request`() throws {
        for change: (inout TransportOptions) throws -> Void in [
            { $0.names.addresses = [.init("a", port: 80, ["127.0.0.1"])] }, { $0.addressPolicy = .noPrivateRanges },
            { $0.connection.unixSocket = .path("/s") },
        ] {
            var request = try request("http://127.0.0.1:3000/users")
            #expect(!request.curlCommand().contains("--noproxy"))
            try change(&request.options)
            #expect(request.curlCommand().contains("--noproxy '*'"))
        }
        var moved = try request("http://127.0.0.1:3000/users")
        moved.options.names.connectTo = [.init("a.test", toHost: "::1", toPort: 81), .init(toHost: "[::2]")]
        let command = moved.curlCommand()
        #expect(command.contains("--connect-to 'a.test::[::1]:81'") && command.contains("'::[::2]:'"), "\(command)")
    }

    @Test(
        arguments: [
            ("", "''"), ("a-b/c.d:e,f_g@h%1+", "a-b/c.d:e,f_g@h%1+"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#),
            ("'", #"''\'''"#), ("$(x)`y`\\!*", "'$(x)`y`\\!*'"), ("ü", "'ü'"), ("a\nb", "'a\nb'"), ("~", "'~'"),
            ("#", "'#'"),
        ]
    )
    func `words are quoted`(text: String, expected: String) { #expect(ShellText.word(text) == expected) }

    /// Regression: a quote and a combining mark are one Character, which is not equal to a quote, so such words were
    /// left open.
    @Test(arguments: ["'\u{301}; echo injected; '\u{301}", "a'\u{200D}b", "it's", "'\u{FE0F}$(echo injected)"])
    func `a quote with a combining mark is quoted`(text: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "printf %s \(ShellText.word(text))"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(printed == Data(text.utf8))
    }

    @Test func `secrets are hidden unless asked for`() throws {
        var fields: HTTPFields = [.authorization: "Bearer secret-1", .cookie: "a=secret-2"]
        fields[try #require(HTTPField.Name("X-Api-Key"))] = "secret-3"
        fields[try #require(HTTPField.Name("X-Auth-Token"))] = "secret-4"
        var request = try request("https://example.com/a?key=secret-5&x&secret-6=", fields)
        request.method = .post
        request.body = .bytes(Data("secret-7".utf8))
        let proxy = TransportOptions.Proxy.Server("http://proxy:1", user: "me", password: "secret-8")
        request.options.proxy = .explicit(proxy)
        request.options.tls.clientCertificate = .init(.file("/c"), key: .file("/k"), password: "secret-9")
        let hidden = request.curlCommand()
        for number in 1...9 { #expect(!hidden.contains("secret-\(number)"), "\(number): \(hidden)") }
        #expect(hidden.contains("?key=REDACTED&REDACTED&REDACTED'"))
        let shown = request.curlCommand(secrets: .revealed)
        for number in 1...9 { #expect(shown.contains("secret-\(number)"), "\(number): \(shown)") }
    }

    /// curl takes what follows a colon for the certificate's password.
    @Test func `a certificate path with a colon is escaped`() throws {
        var request = try request("https://127.0.0.1/")
        request.options.tls.clientCertificate = .init(.file("/a:b\\c.pem"))
        #expect(request.curlCommand().contains(#"--cert '/a\:b\\c.pem'"#), "\(request.curlCommand())")
    }

    @Test func `a challenge with a body has a note`() throws {
        var request = try request("http://127.0.0.1/")
        request.method = .post
        request.options.authentication = .digest(user: "a", password: "b")
        #expect(!request.curlCommand().contains("  # "))
        request.body = .bytes(Data("x".utf8))
        let note = "  # before the server's challenge, curl sends an empty body"
        #expect(request.curlCommand(secrets: .revealed).hasSuffix(note))
        // With Basic allowed too, curl sends the body at once.
        request.url = try RequestURL("https://127.0.0.1/")
        request.options.authentication = .anySafe(user: "a", password: "b")
        #expect(!request.curlCommand(secrets: .revealed).contains("  # "))
    }

    @Test func `a digest password is a secret too`() throws {
        var request = try request("http://127.0.0.1/")
        request.options.authentication = .digest(user: "me", password: "secret")
        #expect(request.curlCommand().contains("--digest --user REDACTED "))
        #expect(request.curlCommand(secrets: .revealed).contains("--digest --user me:secret"))
        request.options.authentication = .basic(user: "me", password: "secret")
        #expect(request.curlCommand().contains("-H 'Authorization: REDACTED'"))
    }

    @Test func `a redacted command hides secrets in other places than the query`() throws {
        var request = try request("https://example.com/a?c2VjcmV0LXRva2Vu==&plain=secret-1")
        request.options.secretFields = [try #require(HTTPField.Name("X-Own"))]
        for (name, value) in [
            ("Referer", "https://u:secret-2@h/p?x=secret-3#secret-4"), ("X-Auth-Key", "secret-5"),
            ("X-Own", "secret-6"),
            ("Ocp-Apim-Subscription-Key", "secret-7"), ("Cf-Access-Jwt-Assertion", "secret-8"),
            ("X-Forwarded", "Bearer secret-9"), ("X-Source", "see https://u:secret-10@h/?sig=secret-11"),
        ] {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        request.options.authentication = .digest(user: "secret-12", password: "secret-13")
        request.options.names.dnsOverHTTPS = "https://dns.example/secret-14?key=secret-15"
        request.options.proxy = .explicit(
            TransportOptions.Proxy.Server("http://u:secret-16@proxy:1", user: "secret-17"))
        let hidden = request.curlCommand()
        #expect(!hidden.contains("secret") && !hidden.contains("c2VjcmV0"), "\(hidden)")
        for shown in [
            "'https://example.com/a?REDACTED&plain=REDACTED'", "'Referer: https://h/p?REDACTED'",
            "--proxy http://proxy:1 ",
            "--doh-url https://dns.example/REDACTED ", "'X-Source: see https://h/?REDACTED'", "--user REDACTED ",
        ] {
            #expect(hidden.contains(shown), "\(shown) in \(hidden)")
        }
        let revealed = request.curlCommand(secrets: .revealed)
        // The proxy's own user replaces the one in its URL.
        for number in 1...17 where number != 16 { #expect(revealed.contains("secret-\(number)")) }
    }

    @Test(arguments: [
        // To curl(1), 0 means no limit.
        (Duration.milliseconds(-500), "0.001"), (.seconds(Int64.min), "0.001"), (.seconds(Int64.max), "31536000.000"),
        (.nanoseconds(1), "0.001"), (.milliseconds(1_050), "1.050"), (.milliseconds(-1), "0.001"), (.zero, "0.001"),
    ])
    func `timeouts are clamped, and never trap`(timeout: Duration, written: String) throws {
        var request = try request("http://127.0.0.1/")
        request.options.totalTimeout = timeout
        request.options.connectTimeout = timeout
        let command = request.curlCommand()
        #expect(command.contains(" --max-time \(written) ") && command.contains(" --connect-timeout \(written) "))
    }

    /// A terminal would act upon them. The shell produces the same bytes from the escaped text.
    @Test(arguments: ["a\u{1B}[2Jb", "\u{85}", "a\u{2028}b'c", "x\ty\n\n", "%\u{202E}"])
    func `control characters are made by the shell`(text: String) throws {
        let word = ShellText.word(text)
        #expect(word.unicodeScalars.allSatisfy { $0 == "\n" || (0x20...0x7E).contains($0.value) })
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "printf %s \(word)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(printed == Data(text.utf8))
        var lenient = try request("http://127.0.0.1/")
        lenient.headerFields.append(HTTPField(name: try #require(HTTPField.Name("X-A")), lenientValue: text.utf8))
        let command = lenient.curlCommand()
        #expect(command.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(command)")
    }

    @Test func `options have their names`() throws {
        var request = try request("https://example.com/")
        request.options.httpVersion = .http1_1
        request.options.totalTimeout = .milliseconds(1_500)
        request.options.connectTimeout = .seconds(2)
        request.options.decompress = false
        request.options.proxy = .none
        request.options.connection.ipVersion = .v4
        request.options.connection.unixSocket = .path("/run/a b")
        request.options.names.addresses = [.init("example.com", port: 443, ["127.0.0.1"])]
        request.options.names.connectTo = [.init("example.com", toHost: "other", toPort: 8443)]
        request.options.rate.maximumSentPerSecond = 1000
        request.options.tls.minimumVersion = .tls1_3
        request.options.tls.authorities = .file("/ca.pem")
        let command = request.curlCommand()
        for text in [
            "--http1.1", "--max-time 1.500", "--connect-timeout 2.000", "--noproxy '*'", "--ipv4",
            "--unix-socket '/run/a b'", "--resolve example.com:443:127.0.0.1",
            "--connect-to example.com::other:8443", "--limit-rate 1000", "--tlsv1.3", "--cacert /ca.pem",
        ] {
            #expect(command.contains(" \(text) "), "\(text) in \(command)")
        }
        #expect(!command.contains("--compressed"))
    }

    @Test func `bodies that are not here are left to standard input`() throws {
        var request = try request("http://127.0.0.1/")
        request.method = .put
        request.body = .stream(AsyncStream<Data> { $0.finish() })
        let streamed = request.curlCommand(secrets: .revealed)
        #expect(streamed.contains("-X PUT"))
        #expect(streamed.contains("-H 'Transfer-Encoding: chunked'"))
        #expect(streamed.hasSuffix("--data-binary @- http://127.0.0.1/  # standard input is the body: a stream"))
        request.body = .bytes(Data(count: 2 << 20))
        #expect(request.curlCommand(secrets: .revealed).hasSuffix("# standard input is the body of 2097152 bytes"))
    }

    @Test func `a typed request has a command too`() throws {
        let data = RequestData(path: "http://127.0.0.1/a", method: .post, parameters: ["name": "O'Brien"])
        let command = try data.curlCommand(secrets: .revealed)
        #expect(command.contains(#"--data-raw '{"name":"O'\''Brien"}' http://127.0.0.1/a"#))
        expectFailure(.invalidURL) { try RequestData(path: "nowhere").curlCommand() }
    }

    @Test func `a request that can't be sent has no command`() throws {
        var head = RequestData(path: "http://127.0.0.1/", method: .head)
        head.content = .bytes(Data("x".utf8), contentType: nil)
        expectFailure(.unsupported) { try head.curlCommand() }
        expectFailure(.unsupported) { try RequestData(path: "http://127.0.0.1/", method: .trace).curlCommand() }
        var options = TransportOptions()
        options.authentication = .basic(user: "a", password: "b")
        let twice = RequestData(path: "http://127.0.0.1/", headerFields: ["Authorization": "Basic x"])
        expectFailure(.invalidOption) { try twice.curlCommand(options: options) }
        options = TransportOptions()
        options.tls.serverName = "h"
        expectFailure(.invalidOption) { try RequestData(path: "http://127.0.0.1/").curlCommand(options: options) }
        // curl may have a feature that one transport lacks.
        options.tls.serverName = nil
        options.authentication = .digest(user: "a", password: "b")
        #expect(try RequestData(path: "http://127.0.0.1/").curlCommand(options: options).contains("--digest"))
    }
}
