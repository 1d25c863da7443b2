import CurlTransport
import Foundation
import HTTPTypes
import NetworkCore
import NetworkLayer
import NetworkResilience
import NetworkTesting
import Testing

@testable import NetworkConfiguration

/// Settings from texts.
@Suite("Settings")
struct SettingsTests {
    private static func settings(
        _ values: [String: String], environment: [String: String] = [:]
    ) throws -> NetworkSettings {
        try NetworkSettings(values: values, from: "test", environment: environment)
    }

    private static func message(_ values: [String: String], environment: [String: String] = [:]) -> String {
        do {
            _ = try settings(values, environment: environment)
            return "no error"
        } catch let error as NetworkError where error.code == .invalidConfiguration {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    private static func shown(_ draft: SettingsDraft) -> String {
        var text = ""
        dump(draft, to: &text)
        // Sets have no order.
        return text.components(separatedBy: "\n").sorted().joined(separator: "\n")
    }

    /// For each key a value that is valid and not the default, and one that is wrong.
    static let samples: [(key: String, valid: String, wrong: String)] = [
        ("baseURL", "https://api.example.com/v1", "api.example.com"),
        ("userAgent", "shop/1.0", "shop\n1"),
        ("httpVersion", "1.1", "HTTP/2"),
        ("decompress", "no", "perhaps"),
        ("maximumBodyBytes", "8 MiB", "8 MB"),
        ("secretFields", "x-key, x-token", "x key"),
        ("timeout.connect", "250ms", "250 m"),
        ("timeout.idle", "none", "0"),
        ("timeout.firstByte", "1.5 s", "-1 s"),
        ("timeout.total", "2 min", "366 d"),
        ("redirects.follow", "false", "nope"),
        ("redirects.maximum", "3", "-1"),
        ("transport", "curl", "pigeon"),
        ("shutdown.patience", "0", "soon"),
        ("curl.maximumConnectionsPerOrigin", "16", "0"),
        ("curl.maximumConnections", "33", "many"),
        ("curl.maximumQueued", "0", "-1"),
        ("curl.loops", "2", "65"),
        ("curl.scheduling", "batch", "fast"),
        ("curl.upgradesToHTTP3", "true", "quic"),
        ("connection.ipVersion", "4", "5"),
        ("connection.interface", "127.0.0.2", "a host"),
        ("connection.keepAlive", "30 s", "0.5 s"),
        ("connection.happyEyeballsDelay", "100 ms", "2 min"),
        ("names.cacheTime", "0", "forever"),
        ("names.dnsOverHTTPS", "https://dns.example/dns-query", "http://dns.example"),
        ("addressPolicy", "noPrivateRanges", "private"),
        ("proxy.url", "http://proxy.example:3128", "gopher://proxy.example"),
        ("proxy.user", "me", ""),
        ("proxy.password", "p4ssw0rd", ""),
        ("proxy.authenticationScheme", "digest", "ntlm"),
        ("proxy.exceptions", "localhost, 10.0.0.0/8", ""),
        ("proxy.authoritiesFile", "/etc/ca.pem", ""),
        ("tls.authoritiesFile", "/etc/ca.pem", ""),
        ("tls.authoritiesDirectory", "/etc/ssl/certs", ""),
        ("tls.certificateFile", "/etc/client.pem", ""),
        ("tls.keyFile", "/etc/client.key", ""),
        ("tls.keyPassword", "k3ypass", ""),
        ("tls.pinnedPublicKeys", "sha256//RkhWTcfJAQN/YxOR12VkPo+PhmIoSfWd/JVkg44einY=", "sha1//abc"),
        ("tls.minimumVersion", "1.3", "2.0"),
        ("tls.maximumVersion", "1.2", "ssl3"),
        ("tls.ciphers", "ECDHE-RSA-AES128-GCM-SHA256", "two words"),
        ("tls.cipherSuites", "TLS_AES_128_GCM_SHA256", "two words"),
        ("tls.serverName", "inner.example", "a/b"),
        ("tls.unsafelyTrustsAnyServer", "true", "si"),
        ("authentication.scheme", "bearer", "kerberos"),
        ("authentication.user", "me", ""),
        ("authentication.password", "p4ssw0rd", ""),
        ("authentication.token", "t0ken", ""),
        ("resilience.enabled", "true", "on"),
        ("resilience.retries.maximum", "5", "1.5"),
        ("resilience.retries.methods", "GET, POST", "G T"),
        ("resilience.retries.statuses", "503", "5xx"),
        ("resilience.retries.baseDelay", "1 s", "x"),
        ("resilience.retries.maximumDelay", "5 s", "x"),
        ("resilience.retries.maximumRetryAfter", "5 s", "x"),
        ("resilience.budget.capacity", "0", "-1"),
        ("resilience.budget.perCall", "0.5", "half"),
        ("resilience.attemptTimeout", "none", "0"),
        ("resilience.concurrency.limit", "50", "0"),
        ("resilience.concurrency.maximum", "50", "0"),
        ("resilience.concurrency.initial", "50", "0"),
        ("resilience.concurrency.maximumQueued", "0", "-1"),
        ("resilience.concurrency.maximumWait", "100ms", "x"),
        ("resilience.rate.limit", "50", "0"),
        ("resilience.rate.period", "1 min", "0"),
        ("resilience.rate.burst", "10", "0"),
        ("resilience.rate.maximumWait", "2 s", "x"),
        ("resilience.hedging.percentile", "0.95", "1"),
        ("resilience.breaker.enabled", "false", "x"),
        ("resilience.breaker.failureRatio", "0.3", "50%"),
        ("resilience.breaker.minimumOutcomes", "10", "0"),
        ("resilience.breaker.window", "1 min", "0"),
        ("resilience.breaker.firstBreakTime", "2 s", "0"),
        ("resilience.breaker.breakTime", "1 min", "0"),
        ("resilience.breaker.probes", "3", "0"),
    ]

    @Test func `each key has a sample`() {
        #expect(Self.samples.map(\.key) == NetworkSettings.keys)
    }

    @Test(arguments: samples)
    func `a valid value changes something, and a wrong one is named`(key: String, valid: String, wrong: String) throws {
        let setting = try #require(Setting.all.first { $0.key == key })
        var draft = SettingsDraft()
        try setting.apply(&draft, valid)
        _ = draft.finish()
        #expect(Self.shown(draft) != Self.shown(SettingsDraft()))

        let message = Self.message([key: wrong])
        #expect(message.contains("\(key) (from test) is "), "\(message)")
    }

    @Test(arguments: Setting.all.map(\.key))
    func `the default of a key is that of the library`(key: String) throws {
        let setting = try #require(Setting.all.first { $0.key == key })
        guard !["none", "default", "libcurl's", "the system's", "the URL's host"].contains(setting.standard),
            !setting.standard.hasPrefix("by "), !setting.standard.contains(";"), key != "userAgent"
        else { return }
        var draft = SettingsDraft()
        try setting.apply(&draft, setting.standard)
        if key == "connection.happyEyeballsDelay" { draft.options.connection.happyEyeballsDelay = nil }
        #expect(Self.shown(draft) == Self.shown(SettingsDraft()))
    }

    @Test func `without keys, it is the client of the defaults`() throws {
        let settings = try Self.settings([:])
        let client = try settings.makeClient(over: StubTransport())
        #expect(client.options == TransportOptions() && client.interceptors.isEmpty && client.headerFields.isEmpty)
        #expect(client.redirectPolicy.maximumRedirects == 20 && settings.curl == .init())
        #expect(settings.description == "transport curl: NETWORK_TRANSPORT is not set")
    }

    @Test func `the values reach the client and its steps`() throws {
        let settings = try Self.settings([
            "baseURL": "https://api.example.com", "timeout.total": "2 s", "userAgent": "shop/1",
            "resilience.enabled": "true", "resilience.retries.maximum": "1", "resilience.breaker.enabled": "false",
            "resilience.rate.limit": "10", "authentication.scheme": "bearer", "authentication.token": "t0ken",
            "tls.minimumVersion": "1.3", "redirects.maximum": "4", "curl.loops": "2",
        ])
        let client = try settings.makeClient(over: StubTransport())
        #expect(client.baseURL == "https://api.example.com" && client.headerFields[.userAgent] == "shop/1")
        #expect(client.options.totalTimeout == .seconds(2) && client.options.tls.minimumVersion == .tls1_3)
        #expect(client.options.authentication == .bearer(token: "t0ken"))
        #expect(client.redirectPolicy.maximumRedirects == 4 && settings.curl.loops == 2)
        #expect(
            client.interceptors.map { "\(type(of: $0))" } == ["RetryInterceptor", "ConcurrencyLimit", "AttemptTimeout"])
        #expect(client.exchangeInterceptors.map { "\(type(of: $0))" } == ["RateLimit"])
    }

    @Test(arguments: [(nil, 30), ("none", nil), ("5 s", 5)] as [(String?, Int?)])
    func `the total timeout with resilience`(given: String?, seconds: Int?) throws {
        var values = ["resilience.enabled": "true"]
        values["timeout.total"] = given
        let client = try Self.settings(values).makeClient(over: StubTransport())
        #expect(client.options.totalTimeout == seconds.map { .seconds($0) })
    }

    @Test func `all that is wrong is in one error, without secrets`() {
        let message = Self.message([
            "timeout.connect": "soon", "proxy.url": "ftp://me:hunter2@proxy", "proxy.password": "hunter3",
            "httpVersion": "4", "timeuot.idle": "3", "authentication.scheme": "basic",
            "authentication.password": "hunter4",
        ])
        #expect(message.hasPrefix("6 settings are wrong: "), "\(message)")
        for part in [
            "timeuot.idle is not a key", "timeout.connect (from test) is 'soon'; it must be a number with",
            "proxy.url (from test) is ",
            "httpVersion (from test) is '4'; it must be 'automatic', '1.0', '1.1', '2', '2-prior-knowledge', '3' or '3-only'",
            "proxy.password (from test) has no effect: proxy.user is not set",
            "authentication.user is missing; authentication.scheme 'basic' needs it",
        ] {
            #expect(message.contains(part), "\(part) is not in \(message)")
        }
        #expect(!message.contains("hunter"), "\(message)")
    }

    @Test(
        arguments: [
            ("https://h/", ["https_proxy": "http://me:hunter2@p:3128"], "http://p:3128", "https_proxy"),
            ("http://h/", ["https_proxy": "http://p:3128"], "none", "http_proxy is not set"),
            ("http://h/", ["HTTP_PROXY": "http://p:3128"], "none", "http_proxy is not set"),
            (
                "http://h/", ["all_proxy": "http://p:3128", "NO_PROXY": "a, h"], "none",
                "NO_PROXY excepts the host from all_proxy"
            ),
        ])
    func `an explanation names the proxy and what has decided`(
        url: String, environment: [String: String], value: String, reason: String
    ) throws {
        let facts = try Self.settings([:], environment: environment).explanation(of: url)
        let proxy = try #require(facts.first { $0.subject == "proxy" })
        #expect(proxy.value == value && proxy.reason == reason, "\(proxy)")
        #expect(!"\(facts)".contains("hunter2"))
    }

    @Test(arguments: [
        (["proxy.url": "http://p:1", "proxy.exceptions": "h, i"], [:], "none", "proxy.exceptions has the host"),
        (
            ["proxy.url": "http://p:1", "proxy.exceptions": "i"], ["https_proxy": "http://q:1"], "http://p:1",
            "proxy.url"
        ),
        (
            ["addressPolicy": "noPrivateRanges"], ["https_proxy": "http://p:1"], "none",
            "addressPolicy goes past https_proxy"
        ),
    ])
    func `an explanation has no proxy that the transport goes past`(
        values: [String: String], environment: [String: String], value: String, reason: String
    ) throws {
        let facts = try Self.settings(values, environment: environment).explanation(of: "https://h/")
        #expect(facts.contains { $0.subject == "proxy" && $0.value == value && $0.reason == reason }, "\(facts)")
    }

    @Test(arguments: [
        ("http://h/", TransportOptions.HTTPVersion.http2, [:], "1.1", "the URL is in the clear"),
        ("http://h/", .http3, [:], "1.1", "the URL is in the clear"),
        ("http://h/", .http2PriorKnowledge, [:], "2-prior-knowledge", "httpVersion"),
        ("http://h/", .http3Only, [:], "refused", "3-only needs https, and no proxy that may be used"),
        ("https://h/", .http2, [:], "2, or 1.1 where the server has no other", "httpVersion"),
        ("https://h/", .http3, [:], "3, 2 or 1.1, as the server responds", "httpVersion"),
        (
            "https://h/", .http3, ["http_proxy": "http://p:1"], "2, or 1.1 where the server has no other",
            "httpVersion is 3, but a proxy may be used"
        ),
    ])
    func `an explanation has the version of HTTP that goes out`(
        url: String, version: TransportOptions.HTTPVersion, environment: [String: String], value: String, reason: String
    ) throws {
        var settings = try Self.settings([:], environment: environment)
        settings.options.httpVersion = version
        let facts = try settings.explanation(of: url)
        #expect(facts.contains { $0.subject == "HTTP" && $0.value == value && $0.reason == reason }, "\(facts)")
    }

    @Test func `an explanation has what the found library does unasked, and the authorities that it trusts`() throws {
        let found = CurlNetworkDispatcher.shared.capabilities
        let isDefault = found.facts.contains { $0.name == "HTTP/2 by default" && $0.value == "yes" }
        let facts = try Self.settings([:], environment: ["SSL_CERT_FILE": "/ca.pem"]).explanation(of: "https://h/")
        func fact(_ subject: String) throws -> NetworkSettings.Fact {
            try #require(facts.first { $0.subject == subject })
        }
        #expect(try fact("HTTP").value.hasPrefix(isDefault ? "2" : "1.1"))
        #expect(try fact("HTTP").reason.contains(isDefault ? "no fault" : "from libcurl 8.14"))
        #expect(try (fact("HTTP/3").value == "no") == !found.supports(.http3))
        #expect(try fact("authorities").value.contains("/"))
        #expect(try fact("authorities").reason == "the library's own; without effect: SSL_CERT_FILE")
    }

    @Test func `an explanation of a shadow is of its first transport`() throws {
        let facts = try Self.settings([:], environment: ["NETWORK_TRANSPORT": "urlsession; shadow=curl"]).explanation()
        #expect(facts.contains { $0.subject == "transport" && $0.value.hasSuffix("of urlsession") }, "\(facts)")
        #expect(facts.contains { $0.subject == "library" && $0.value.hasPrefix("Foundation") }, "\(facts)")
    }

    @Test func `an explanation has the transport, the version of HTTP and what is refused`() throws {
        var facts = try Self.settings([:], environment: ["NETWORK_TRANSPORT": "urlsession"]).explanation(
            of: "http://h/?q=1")
        #expect(
            facts.contains { $0.subject == "transport" && $0.value == "urlsession" && $0.reason.contains("NETWORK_") })
        #expect(facts.contains { $0.subject == "URL" && $0.value == "http://h/?…" })
        #expect(facts.contains { $0.subject == "HTTP" && $0.value == "1.1" && $0.reason == "the URL is in the clear" })
        var settings = try Self.settings(["httpVersion": "1.1", "tls.authoritiesFile": "/ca.pem"])
        facts = try settings.explanation(of: "https://h/")
        #expect(facts.contains { $0.subject == "HTTP" && $0.reason == "httpVersion" })
        #expect(facts.contains { $0.subject == "authorities" && $0.value == "file /ca.pem" })
        settings.options.tls.serverName = "other"
        facts = try settings.explanation(of: "http://h/")
        #expect(facts.contains { $0.subject == "refused" && $0.value.contains("tls.serverName") })
        #expect(throws: NetworkError.self) { try settings.explanation(of: "ftp://h/") }
    }

    @Test(arguments: ["proxy.url", "baseURL"]) func `a password before a host without a scheme is not shown`(
        key: String
    ) {
        let message = Self.message([key: "me:hunter2@proxy:3128"])
        #expect(message.contains("\(key) (from test) is ") && !message.contains("hunter2"), "\(message)")
    }

    @Test func `an unknown key names its neighbours`() {
        let message = Self.message(["timeout.conect": "1 s"])
        #expect(
            message == "a setting is wrong: timeout.conect is not a key; those of 'timeout' are timeout.connect, "
                + "timeout.idle, timeout.firstByte, timeout.total")
    }

    @Test(arguments: [
        ("proxy.user", ["proxy.url": "none"], "proxy.url is 'none'"),
        ("tls.keyPassword", [:], "tls.certificateFile is not set"),
        ("resilience.breaker.probes", [:], "resilience.breaker.enabled is not set"),
        ("curl.loops", ["transport": "urlsession"], "transport is 'urlsession'"),
        ("authentication.token", ["authentication.scheme": "none"], "authentication.scheme is 'none'"),
    ])
    func `a key without effect is wrong`(key: String, others: [String: String], why: String) {
        let message = Self.message(others.merging([key: "1"]) { $1 })
        #expect(message.contains("\(key) (from test) has no effect: \(why)"), "\(message)")
    }

    @Test func `what the transport would refuse is found`() {
        let message = Self.message(["transport": "urlsession", "tls.minimumVersion": "1.3"])
        #expect(message.contains("urlsession") && message.contains("TLS"), "\(message)")
        let together = Self.message(["tls.minimumVersion": "1.3", "tls.maximumVersion": "1.2"])
        #expect(together == "a setting is wrong: tls.maximumVersion is below minimumVersion")
    }

    @Test(
        arguments: [
            (nil, nil, "curl", "curl: NETWORK_TRANSPORT is not set"),
            (nil, "urlsession", "urlsession", "urlsession: NETWORK_TRANSPORT is 'urlsession'"),
            ("curl", "urlsession", "curl", "curl: by its key, although NETWORK_TRANSPORT is 'urlsession'"),
            ("urlsession", nil, "urlsession", "urlsession: by its key"),
            ("standard", "curl", "curl", "curl: NETWORK_TRANSPORT is 'curl'"),
        ] as [(String?, String?, String, String)])
    func `the key wins over the variable`(key: String?, variable: String?, name: String, reason: String) throws {
        var (values, environment) = ([String: String](), [String: String]())
        values["transport"] = key
        environment["NETWORK_TRANSPORT"] = variable
        let settings = try Self.settings(values, environment: environment)
        #expect(try settings.makeTransport().name == name && settings.transportReason == reason)
    }

    @Test func `a wrong variable is found, unless a key says what applies`() throws {
        let environment = ["NETWORK_TRANSPORT": "pigeon"]
        let message = Self.message([:], environment: environment)
        #expect(message.contains("NETWORK_TRANSPORT is 'pigeon'; it must be 'curl' or 'urlsession'"))
        #expect(try Self.settings(["transport": "curl"], environment: environment).makeTransport().name == "curl")
    }

    @Test func `entries have the values, the sources and no secrets`() throws {
        let settings = try Self.settings([
            "proxy.url": "http://me:hunter2@proxy.example:3128", "authentication.scheme": "bearer",
            "authentication.token": "hunter3", "timeout.idle": "none",
        ])
        let entries = Dictionary(uniqueKeysWithValues: settings.entries.map { ($0.key, $0) })
        #expect(entries.count == NetworkSettings.keys.count)
        #expect(entries["timeout.idle"] == .init(key: "timeout.idle", value: "none", source: "test", isDefault: false))
        #expect(entries["timeout.connect"]?.source == "default" && entries["timeout.connect"]?.value == "10 s")
        #expect(entries["authentication.token"]?.value == "<secret>")
        #expect(!"\(settings) \(settings.entries)".contains("hunter"), "\(settings)")
        #expect(settings.description.contains("timeout.idle = none, from test"))
    }

    @Test(arguments: [
        ("250us", Duration.microseconds(250)), ("250ms", .milliseconds(250)), ("1.5 s", .milliseconds(1_500)),
        ("0.1 s", .milliseconds(100)), ("2 min", .seconds(120)), ("1h", .seconds(3_600)),
        ("365 d", .seconds(31_536_000)),
        ("30", .seconds(30)), ("0", .zero),
    ])
    func `times have units`(text: String, time: Duration) throws {
        #expect(try SettingText.duration(text) == time)
    }

    @Test(arguments: ["", "s", "1 fortnight", "1e3 s", "-1 s", "+1", "1.2.3 s", "inf", "nan", "1 S", "99999999999 d"])
    func `no other form is a time`(text: String) {
        #expect(throws: WrongValue.self) { try SettingText.duration(text) }
    }

    @Test(arguments: [("0", 0), ("1000", 1_000), ("64 MiB", 67_108_864), ("1.5KiB", 1_536), ("1 GiB", 1_073_741_824)])
    func `sizes have units`(text: String, bytes: Int) throws { #expect(try SettingText.bytes(text) == bytes) }

    @Test(arguments: ["1 MB", "-1", "0.3", "9999999999999999999999", "0.0001 KiB"])
    func `no other form is a size`(text: String) { #expect(throws: WrongValue.self) { try SettingText.bytes(text) } }

    @Test func `the article has each key with its form, default and condition`() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = package.appending(path: "Sources/NetworkLayer/NetworkLayer.docc/Configuration.md")
        let rows = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "\n")
            .filter { $0.hasPrefix("| `") && $0.hasSuffix(" |") }
        let expected = Setting.all.map { setting in
            let form = setting.isSecret ? "a secret" : setting.form
            let standard = setting.key == "userAgent" ? "NetworkLayer/…" : setting.standard
            return "| `\(setting.key)` | \(form) | \(standard) | \(setting.needs.map { "`\($0)`" } ?? "") |"
        }
        #expect(rows == expected, "the rows should be:\n\(expected.joined(separator: "\n"))")
    }
}
