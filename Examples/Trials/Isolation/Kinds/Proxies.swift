import Foundation
import HTTPTypes
import NetworkLayer

extension Kind {
    /// Requests through proxies.
    static let proxies: [Kind] = [
        Kind("proxy", at: .proxied) { $1.options.proxy = .explicit($0.proxy()) },
        Kind("proxy-basic", at: .proxied) { $1.options.proxy = .explicit($0.proxy(isNamed: true)) },
        Kind("proxy-basic-post", at: .proxied, .post) {
            $1.options.proxy = .explicit($0.proxy(isNamed: true))
            $1.body = .bytes(Data("x".utf8))
        },
        Kind("proxy-basic-stream", at: .proxied, .post) {
            $1.options.proxy = .explicit($0.proxy(isNamed: true))
            $1.body = .replayableStream { Bodies.chunks([100]) }
        },
        Kind("proxy-digest", at: .proxied) {
            var proxy = $0.proxy(isNamed: true)
            proxy.authenticationScheme = .digest
            $1.options.proxy = .explicit(proxy)
        },
        Kind("proxy-digest-stream", at: .proxied, .post) {
            var proxy = $0.proxy(isNamed: true)
            proxy.authenticationScheme = .digest
            $1.options.proxy = .explicit(proxy)
            $1.body = .replayableStream { Bodies.chunks([100]) }
        },
        Kind("proxy-any", at: .proxied) {
            var proxy = $0.proxy(isNamed: true)
            proxy.authenticationScheme = .anySafe
            $1.options.proxy = .explicit(proxy)
        },
        Kind("proxy-fields", at: .proxied) {
            var proxy = $0.proxy()
            proxy.headerFields[.mark] = $0.token
            proxy.tunnel = true
            $1.options.proxy = .explicit(proxy)
        },
        Kind("tunnel", at: .proxied) {
            var proxy = $0.proxy()
            proxy.tunnel = true
            $1.options.proxy = .explicit(proxy)
        },
        Kind("tunnel-basic", at: .proxied) {
            var proxy = $0.proxy(isNamed: true)
            proxy.tunnel = true
            $1.options.proxy = .explicit(proxy)
        },
        Kind("tunnel-digest", at: .proxied) {
            var proxy = $0.proxy(isNamed: true)
            proxy.tunnel = true
            proxy.authenticationScheme = .digest
            $1.options.proxy = .explicit(proxy)
        },
        Kind("tunnel-stream", at: .proxied, .post) {
            var proxy = $0.proxy(isNamed: true)
            proxy.tunnel = true
            $1.options.proxy = .explicit(proxy)
            $1.body = .replayableStream { Bodies.chunks([100]) }
        },
        Kind("proxy-passed-by") {
            var proxy = $0.proxy(isNamed: true)
            proxy.noProxy = ["127.0.0.1"]
            $1.options.proxy = .explicit(proxy)
        },
        Kind("proxy-none") { $1.options.proxy = .none },
        Kind("socks4") { $1.options.proxy = .explicit($0.proxy("socks4")) },
        Kind("socks5", at: .proxied) { $1.options.proxy = .explicit($0.proxy("socks5h")) },
        Kind("socks5-named", at: .proxied) { $1.options.proxy = .explicit($0.proxy("socks5h", isNamed: true)) },
        Kind("environment", at: .proxied),
        Kind("environment-post", at: .proxied, .post) { $1.body = .bytes(Data("x".utf8)) },
        Kind("environment-stream", at: .proxied, .post) { $1.body = .replayableStream { Bodies.chunks([100]) } },
        Kind("environment-tunnel", at: .proxied) { $1.options.names.connectTo = [$0.beyondTunnel] },
        Kind("proxy-moved", at: .proxied) {
            $1.options.proxy = .explicit($0.proxy(host: "localhost", isNamed: true))
            $1.options.names.connectTo = [$0.beyondTunnel]
        },
        Kind("proxy-moved-fields", at: .proxied) {
            var proxy = $0.proxy(host: "localhost")
            proxy.headerFields[.mark] = $0.token
            $1.options.proxy = .explicit(proxy)
            $1.options.names.connectTo = [$0.beyondTunnel]
        },
        Kind("environment-digest", at: .proxied) {
            $1.options.authentication = .digest(user: $0.user, password: $0.password)
        },
    ]
}
