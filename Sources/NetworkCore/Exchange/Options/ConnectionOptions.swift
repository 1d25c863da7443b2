extension TransportOptions {
    /// How a connection is made and kept. Not for URLSession.
    public struct Connection: Sendable, Hashable {
        /// Whether a new connection is made although a kept one is there (CURLOPT_FRESH_CONNECT). Off by default.
        public var isFresh = false
        /// Whether the connection is closed after the exchange and serves no other (CURLOPT_FORBID_REUSE). Off by
        /// default.
        public var forbidsReuse = false
        /// The addresses to connect to (CURLOPT_IPRESOLVE). ``IPVersion/any`` by default.
        public var ipVersion = IPVersion.any
        /// A Unix socket to connect to instead of the URL's host and port. None by default. Proxies are left out.
        public var unixSocket: UnixSocket?
        /// The address or the network interface to connect from (CURLOPT_INTERFACE): `127.0.0.2`, `eth0`. Any by
        /// default. A host name is refused, since libcurl would wait for the name service with every transfer of its
        /// thread.
        ///
        /// Such a connection serves one request: libcurl would hand a kept one to a request that asked for none.
        public var interface: String?
        /// The ports to connect from, tried in order (CURLOPT_LOCALPORT, LOCALPORTRANGE). Any by default. Such a
        /// connection serves one request.
        public var localPorts: ClosedRange<Int>?
        /// Whether a request of any method is sent again when a kept connection ends before the response. Off by
        /// default: a request that is not idempotent (RFC 9110 §9.2.2), of which a byte went out, then fails with
        /// ``NetworkError/Code/connectionLost``, since the server may have executed it. Idempotent requests are sent
        /// again in any case, up to five times, as libcurl does.
        ///
        /// Below libcurl 7.80, which reports no repeat, such a request has a new connection instead.
        public var repeatsAnyMethod = false
        /// Probes on a silent connection, by which a peer that went away is noticed. Off by default.
        public var keepAlive: KeepAlive?

        /// The defaults.
        public init() {}

        /// A family of addresses.
        public enum IPVersion: Sendable, Hashable, CaseIterable {
            /// Whatever the name has.
            case any
            /// IPv4 alone.
            case v4
            /// IPv6 alone.
            case v6
        }

        /// A socket of this machine.
        public enum UnixSocket: Sendable, Hashable {
            /// In the file system (CURLOPT_UNIX_SOCKET_PATH, 7.40), at most 107 bytes.
            case path(String)
            /// In Linux's abstract namespace (CURLOPT_ABSTRACT_UNIX_SOCKET, 7.53), without the leading NUL, at most 106
            /// bytes.
            case abstract(String)
        }

        /// The kernel's probes (CURLOPT_TCP_KEEPALIVE).
        public struct KeepAlive: Sendable, Hashable {
            /// The silence before the first probe, in whole seconds (CURLOPT_TCP_KEEPIDLE). 60 s by default.
            public var idle = Duration.seconds(60)
            /// The time between two probes, in whole seconds (CURLOPT_TCP_KEEPINTVL). 60 s by default.
            public var interval = Duration.seconds(60)
            /// How many probes may go unanswered (CURLOPT_TCP_KEEPCNT, 8.9). The system's number by default.
            public var probes: Int?

            /// The defaults.
            public init() {}
        }
    }
}

extension TransportOptions.Connection: TransportOptionGroup {
    func check() throws {
        switch unixSocket {
        case nil: break
        case .path(let path):
            try OptionCheck.text(path, "connection.unixSocket")
            try Self.checkLength(path, 107)
        case .abstract(let name):
            try OptionCheck.text(name, "connection.unixSocket")
            try Self.checkLength(name, 106)
        }
        if let interface { try Self.checkInterface(interface) }
        if let localPorts {
            try OptionCheck.port(localPorts.lowerBound, "connection.localPorts")
            try OptionCheck.port(localPorts.upperBound, "connection.localPorts")
        }
        if let keepAlive {
            try Self.checkSeconds(keepAlive.idle, "connection.keepAlive.idle")
            try Self.checkSeconds(keepAlive.interval, "connection.keepAlive.interval")
            if let probes = keepAlive.probes, !(1...127).contains(probes) {
                throw OptionCheck.invalid("connection.keepAlive.probes", "is \(probes); it must be from 1 to 127")
            }
        }
    }

    /// The longest name of an interface, in bytes (IFNAMSIZ, netdevice(7)).
    private static let maximumInterfaceName = 15

    private static func checkInterface(_ value: String) throws {
        try OptionCheck.token(value, "connection.interface", without: "!/")
        guard AddressPolicy.Address(value) == nil else {
            guard !value.utf8.contains(UInt8(ascii: "%")) else {
                throw OptionCheck.invalid("connection.interface", "has a zone; name the interface instead")
            }
            return
        }
        guard value.utf8.count <= maximumInterfaceName else {
            throw OptionCheck.invalid("connection.interface", "is neither an IP address nor the name of an interface")
        }
    }

    private static func checkLength(_ name: String, _ limit: Int) throws {
        guard name.utf8.count <= limit else {
            throw OptionCheck.invalid("connection.unixSocket", "has more than \(limit) bytes")
        }
    }

    private static func checkSeconds(_ value: Duration, _ name: String) throws {
        guard value >= .seconds(1), value <= .seconds(32_767) else {
            throw OptionCheck.invalid(name, "is \(value); it must be from 1 to 32767 seconds")
        }
    }

    var required: [TransportCapabilities.Capability] {
        var required = [TransportCapabilities.Capability.connectionOptions]
        if unixSocket != nil { required.append(.unixSockets) }
        if keepAlive?.probes != nil { required.append(.keepAliveProbes) }
        return required
    }
}
