import CurlTransport
import FoundationEssentials
import HTTPTypes
import NetworkCore

extension Setting {
    /// The client, its timeouts, and the transport.
    static let client: [Setting] =
        [
            .text("baseURL", "a URL") { draft, text in
                do { _ = try RequestURL(text) } catch {
                    throw WrongValue("is not an absolute http or https URL")
                }
                draft.baseURL = text
            },
            .text("userAgent", "text", default: "NetworkLayer/\(NetworkLayerVersion.current)") { draft, text in
                guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                    throw WrongValue("has a character that a header field can't have")
                }
                draft.userAgent = text
            },
            .choice("httpVersion", default: "automatic", \.options.httpVersion),
            .flag("decompress", default: true, \.options.decompress),
            .bytes("maximumBodyBytes", default: "64 MiB", \.options.maximumBodyBytes),
            .list("secretFields", "names of header fields") { draft, names in
                for name in names {
                    guard let name = HTTPField.Name(name) else { throw WrongValue("must be names of header fields") }
                    draft.options.secretFields.insert(name)
                }
            },
            .timeOrNone("timeout.connect", default: "10 s", \.options.connectTimeout),
            .timeOrNone("timeout.idle", default: "60 s", \.options.idleTimeout),
            .timeOrNone("timeout.firstByte", default: "none", \.options.firstByteTimeout),
            .text("timeout.total", "a time, or none", default: "none; 30 s with resilience") { draft, text in
                let setting = Setting.timeOrNone("timeout.total", default: "none", \.options.totalTimeout)
                try setting.apply(&draft, text)
                draft.hasTotalTimeout = true
            },
            .flag("redirects.follow", default: true, \.followsRedirects),
            .integer("redirects.maximum", default: "20", in: 0...1_000, \.maximumRedirects).needing("redirects.follow"),
            .choice(
                "transport", default: "standard", \.transport,
                [("standard", .standard), ("curl", .curl), ("urlsession", .urlsession)]),
            .time("shutdown.patience", default: "30 s", from: "0 s", \.curl.shutdownPatience),
        ] + curl.map { $0.needing("transport") }

    private static let curl: [Setting] = [
        .integer(
            "curl.maximumConnectionsPerOrigin", default: "128", in: 1...1_000_000, \.curl.maximumConnectionsPerOrigin),
        .integer(
            "curl.maximumConnections", default: "by RLIMIT_NOFILE", in: 1...1_000_000, \.curl.maximumConnections),
        .integer("curl.maximumQueued", default: "100000", in: 0...10_000_000, \.curl.maximumQueued),
        .integer("curl.loops", default: "1", in: 1...64, \.curl.loops),
        .choice("curl.scheduling", default: "ordinary", \.curl.scheduling),
        .flag("curl.upgradesToHTTP3", default: false, \.curl.upgradesToHTTP3),
    ]

    /// The way to the server.
    static let connection: [Setting] = [
        .choice(
            "connection.ipVersion", default: "any", \.options.connection.ipVersion,
            [("any", .any), ("4", .v4), ("6", .v6)]),
        .text("connection.interface", "an IP address or the name of an interface") { draft, text in
            try draft.setOption { $0.connection.interface = text }
        },
        .text("connection.keepAlive", "a time from 1 s to 32767 s") { draft, text in
            let time = try SettingText.duration(text)
            try draft.setOption {
                var keepAlive = TransportOptions.Connection.KeepAlive()
                (keepAlive.idle, keepAlive.interval) = (time, time)
                $0.connection.keepAlive = keepAlive
            }
        },
        .text("connection.happyEyeballsDelay", "a time from 1 ms to 60 s", default: "200 ms") { draft, text in
            let time = try SettingText.duration(text)
            try draft.setOption { $0.connection.happyEyeballsDelay = time }
        },
        .time("names.cacheTime", default: "60 s", from: "0 s", \.options.names.cacheTime),
        .text("names.dnsOverHTTPS", "an https URL") { draft, text in
            try draft.setOption { $0.names.dnsOverHTTPS = text }
        },
        .choice(
            "addressPolicy", default: "any", \.options.addressPolicy,
            [("any", .any), ("noPrivateRanges", .noPrivateRanges)]),
        .text("proxy.url", "a URL, none, or environment", default: "environment") { draft, text in
            switch text {
            case "environment": break
            case "none": draft.proxy.isOff = true
            default:
                try SettingsDraft.checkOption { $0.proxy = .explicit(.init(text)) }
                draft.proxy.url = text
            }
        },
        .text("proxy.user", "text", \.proxy.user).needing("proxy.url"),
        .text("proxy.password", "a secret", \.proxy.password).secret.needing("proxy.user"),
        .choice(
            "proxy.authenticationScheme", default: "basic", \.proxy.scheme,
            [("basic", .basic), ("digest", .digest), ("anySafe", .anySafe)]
        ).needing("proxy.url"),
        .list("proxy.exceptions", "hosts, IP addresses and ranges") { $0.proxy.exceptions = $1 }.needing("proxy.url"),
        .text("proxy.authoritiesFile", "the path of a PEM file", \.proxy.authorities).needing("proxy.url"),
    ]

    private static let tlsVersions: [(name: String, value: TransportOptions.TLS.Version)] = [
        ("1.0", .tls1_0), ("1.1", .tls1_1), ("1.2", .tls1_2), ("1.3", .tls1_3),
    ]

    /// TLS and credentials.
    static let security: [Setting] = [
        .text("tls.authoritiesFile", "the path of a PEM file", default: "the system's") { draft, path in
            try draft.setOption { $0.tls.authorities = .file(path) }
        },
        .text("tls.authoritiesDirectory", "the path of a directory", default: "the system's") { draft, path in
            guard draft.options.tls.authorities == .system else {
                throw WrongValue("is given next to tls.authoritiesFile; only one of them can apply")
            }
            try draft.setOption { $0.tls.authorities = .directory(path) }
        },
        .text("tls.certificateFile", "the path of a PEM file", \.certificate.file),
        .text("tls.keyFile", "the path of a PEM file", \.certificate.key).needing("tls.certificateFile"),
        .text("tls.keyPassword", "a secret", \.certificate.password).secret.needing("tls.certificateFile"),
        .list("tls.pinnedPublicKeys", "sha256//… of keys") { draft, keys in
            try draft.setOption { $0.tls.pinnedPublicKeys = keys }
        },
        .choice("tls.minimumVersion", default: "1.2", \.options.tls.minimumVersion, tlsVersions),
        .choice(
            "tls.maximumVersion", default: "none", \.options.tls.maximumVersion,
            tlsVersions.map { ($0.name, Optional($0.value)) }),
        .text("tls.ciphers", "names of OpenSSL, for TLS 1.2", default: "libcurl's") { draft, text in
            try draft.setOption { $0.tls.ciphers = text }
        },
        .text("tls.cipherSuites", "names, for TLS 1.3", default: "libcurl's") { draft, text in
            try draft.setOption { $0.tls.cipherSuites = text }
        },
        .text("tls.serverName", "a host", default: "the URL's host") { draft, text in
            try draft.setOption { $0.tls.serverName = text }
        },
        .flag("tls.unsafelyTrustsAnyServer", default: false, \.curl.unsafelyTrustsAnyServer).needing("transport"),
        .choice("authentication.scheme", default: "none", \.authentication.scheme),
        .text("authentication.user", "text", \.authentication.user).needing("authentication.scheme"),
        .text("authentication.password", "a secret", \.authentication.password).secret
            .needing("authentication.scheme"),
        .text("authentication.token", "a secret", \.authentication.token).secret.needing("authentication.scheme"),
    ]
}
