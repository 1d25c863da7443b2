import Foundation
import NetworkLayer

extension Kind {
    /// Requests over TLS.
    static let secure: [Kind] = [
        Kind("https", at: .secure("127.0.0.1")) { $1.options.tls.authorities = $0.authorities },
        Kind("https-named", at: .secure("localhost")) { $1.options.tls.authorities = $0.authorities },
        Kind("https-untrusting", at: .secure("127.0.0.1")),
        Kind("https-post", at: .secure("127.0.0.1"), .post) {
            $1.options.tls.authorities = $0.authorities
            $1.body = .bytes(Data("x".utf8))
        },
        Kind("https-stream", at: .secure("127.0.0.1"), .post) {
            $1.options.tls.authorities = $0.authorities
            $1.body = .replayableStream { Bodies.chunks([100]) }
        },
        Kind("https-bytes", at: .secure("localhost")) {
            $1.options.tls.authorities = .bytes(try Data(contentsOf: URL(filePath: $0.folder + "/ca.pem")))
        },
        Kind("https-server-name", at: .secure("127.0.0.1")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.tls.serverName = "other.test"
        },
        Kind("https-pinned", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            let pin = try String(contentsOfFile: $0.folder + "/good.pin", encoding: .utf8)
            $1.options.tls.pinnedPublicKeys = [pin.trimmingCharacters(in: .whitespacesAndNewlines)]
        },
        Kind("https-wrong-pin", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.tls.pinnedPublicKeys = ["sha256//" + Data(repeating: 7, count: 32).base64EncodedString()]
        },
        Kind("https-1.2", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.tls.maximumVersion = .tls1_2
        },
        Kind("https-1.3", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.tls.minimumVersion = .tls1_3
        },
        Kind("https-ciphers", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.tls.maximumVersion = .tls1_2
            $1.options.tls.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"
        },
        Kind("https-groups", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.tls.groups = "P-384"
        },
        Kind("https-client", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.tls.clientCertificate = .init(
                .file($0.folder + "/client.pem"), key: .file($0.folder + "/client.key"), password: "open sesame")
        },
        Kind("https-basic", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.authentication = .basic(user: $0.user, password: $0.password)
        },
        Kind("https-any-safe", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.authentication = .anySafe(user: $0.user, password: $0.password)
        },
        Kind("https-version-2", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.httpVersion = .http2
        },
        Kind("https-tunnel", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.proxy = .explicit($0.proxy())
        },
        Kind("https-tunnel-basic", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.proxy = .explicit($0.proxy(isNamed: true))
        },
        Kind("https-socks", at: .secure("localhost")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.proxy = .explicit($0.proxy("socks5h"))
        },
        Kind("doh", at: .named("looked.localtest")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.names.dnsOverHTTPS = "https://127.0.0.1:\($0.two)/dns-query"
        },
        Kind("doh-post", at: .named("looked.localtest"), .post) {
            $1.options.tls.authorities = $0.authorities
            $1.options.names.dnsOverHTTPS = "https://127.0.0.1:\($0.two)/dns-query"
            $1.body = .bytes(Data("x".utf8))
        },
        Kind("doh-silent", at: .named("never-looked-up.localtest")) {
            $1.options.tls.authorities = $0.authorities
            $1.options.names.dnsOverHTTPS = "https://127.0.0.1:\($0.silent)/dns-query"
            $1.options.connectTimeout = .milliseconds(80)
        },
    ]
}
