import Foundation
import NetworkLayer

extension Kind {
    /// Requests with names, addresses, sockets and rates.
    static let connections: [Kind] = [
        Kind("addresses", at: .named("pinned.localhost")) {
            $1.options.names.addresses = [.init("pinned.localhost", port: $0.one, ["127.0.0.2"])]
        },
        Kind("get-pinned-name", at: .named("pinned.localhost")),
        Kind("addresses-several", at: .named("pinned.localhost")) {
            $1.options.names.addresses = [.init("pinned.localhost", port: $0.one, ["127.0.0.3", "127.0.0.2"])]
        },
        Kind("addresses-post", at: .named("pinned.localhost"), .post) {
            $1.options.names.addresses = [.init("pinned.localhost", port: $0.one, ["127.0.0.2"])]
            $1.body = .bytes(Data("x".utf8))
        },
        Kind("addresses-zone", at: .named("pinned.localhost")) {
            $1.options.names.addresses = [.init("pinned.localhost", port: $0.one, ["::1%lo"])]
        },
        Kind("addresses-no-name-cache", at: .named("pinned.localhost")) {
            $1.options.names.addresses = [.init("pinned.localhost", port: $0.one, ["127.0.0.2"])]
            $1.options.names.cacheTime = .zero
        },
        Kind("addresses-of-one-version", at: .named("pinned.localhost")) {
            $1.options.names.addresses = [.init("pinned.localhost", port: $0.one, ["::1", "127.0.0.2"])]
            $1.options.connection.ipVersion = .v4
        },
        Kind("addresses-unused") {
            $1.options.names.addresses = [.init("elsewhere.test", port: 9, ["127.0.0.2"])]
        },
        Kind("connect-to", at: .named("moved.test")) {
            $1.options.names.connectTo = [.init("moved.test", toHost: "127.0.0.2", toPort: $0.two)]
        },
        Kind("connect-to-known") { $1.options.names.connectTo = [.init(toHost: "127.0.0.4")] },
        Kind("no-name-cache", at: .named("localhost")) { $1.options.names.cacheTime = .zero },
        Kind("fresh") { $1.options.connection.isFresh = true },
        Kind("no-reuse") { $1.options.connection.forbidsReuse = true },
        Kind("lone-post", .post) {
            $1.options.connection.isFresh = true
            $1.options.connection.forbidsReuse = true
            $1.body = .bytes(Data("x".utf8))
        },
        Kind("ipv4", at: .named("localhost")) { $1.options.connection.ipVersion = .v4 },
        Kind("ipv6", at: .named("localhost")) { $1.options.connection.ipVersion = .v6 },
        Kind("unix", at: .named("unix.test")) { $1.options.connection.unixSocket = .path($0.unixPath) },
        Kind("unix-post", at: .named("unix.test"), .post) {
            $1.options.connection.unixSocket = .path($0.unixPath)
            $1.body = .bytes(Data("x".utf8))
        },
        Kind("unix-known") { $1.options.connection.unixSocket = .path($0.unixPath) },
        Kind("abstract", at: .named("unix.test")) { $1.options.connection.unixSocket = .abstract($0.abstractName) },
        Kind("interface") { $1.options.connection.interface = "127.0.0.1" },
        Kind("interface-other") { $1.options.connection.interface = "127.0.0.9" },
        Kind("local-ports") { $1.options.connection.localPorts = 41_000...41_900 },
        Kind("keep-alive") { $1.options.connection.keepAlive = .init() },
        Kind("happy-eyeballs", at: .named("localhost")) {
            $1.options.connection.happyEyeballsDelay = .milliseconds(50)
        },
        Kind("receive-rate") { $1.options.rate.maximumReceivedPerSecond = 10_000_000 },
        Kind("send-rate", .post) {
            $1.options.rate.maximumSentPerSecond = 10_000_000
            $1.body = .bytes(Bodies.medium)
        },
        Kind("low-speed") { $1.options.rate.lowSpeed = .init(bytesPerSecond: 1, for: .seconds(30)) },
        Kind("policy-passes") { $1.options.addressPolicy = .denying([try AddressPolicy.Range("10.0.0.0/8")]) },
        Kind("policy-refuses") { $1.options.addressPolicy = .noPrivateRanges },
    ]
}
