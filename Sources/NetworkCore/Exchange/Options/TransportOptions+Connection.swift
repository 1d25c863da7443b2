extension TransportOptions {
    /// How connections are made and kept. Not supported by the URLSession transport.
    public struct Connection: Sendable, Hashable {
        /// Whether the request gets a new connection even if the pool has one. Default: `false`.
        /// [CURLOPT_FRESH_CONNECT](https://curl.se/libcurl/c/CURLOPT_FRESH_CONNECT.html)
        public var isFresh = false
        /// Whether the connection is closed after the exchange instead of returning to the pool. Such a request speaks
        /// HTTP/1.1 where it could speak HTTP/2, whose connections serve many at once; by prior knowledge and over
        /// HTTP/3 it is ``NetworkError/Code/unsupported``. Default: `false`.
        /// [CURLOPT_FORBID_REUSE](https://curl.se/libcurl/c/CURLOPT_FORBID_REUSE.html)
        public var forbidsReuse = false
        /// The address family to connect to. Default: ``IPVersion/any``. Over curl, requests with different values have
        /// different connections and cached addresses.
        /// [CURLOPT_IPRESOLVE](https://curl.se/libcurl/c/CURLOPT_IPRESOLVE.html)
        public var ipVersion = IPVersion.any
        /// A Unix socket to connect to instead of the URL's host and port. Such a request bypasses the environment's
        /// proxy, and a redirect to another origin leaves the socket. Default: `nil`.
        public var unixSocket: UnixSocket?
        /// The local IP address or network interface to connect from, such as `127.0.0.2` or `eth0`. Default: `nil`,
        /// for any. A host name is refused, because its lookup would stop all transfers on the same loop.
        ///
        /// Requests with different values share no connection.
        /// [CURLOPT_INTERFACE](https://curl.se/libcurl/c/CURLOPT_INTERFACE.html)
        public var interface: String?
        /// The local ports to connect from, tried in order. Default: `nil`, for any. Requests with different values
        /// share no connection.
        /// [CURLOPT_LOCALPORT](https://curl.se/libcurl/c/CURLOPT_LOCALPORT.html),
        /// [CURLOPT_LOCALPORTRANGE](https://curl.se/libcurl/c/CURLOPT_LOCALPORTRANGE.html)
        public var localPorts: ClosedRange<Int>?
        /// Whether a request of any method is sent again when a kept connection ends before the response. Default:
        /// `false`.
        ///
        /// By default, a request that is not idempotent
        /// ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)) and of which at least one byte may
        /// have been sent (over TLS always) fails with ``NetworkError/Code/connectionLost``, because the server may
        /// have executed it. Idempotent requests are sent again, once over a new connection of HTTP/1; where HTTP/2
        /// may be negotiated, up to five times, as libcurl does.
        ///
        /// A stream of HTTP/2 that the server refused, or that lies above the last one of its GOAWAY, was not executed
        /// ([RFC 9113 §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)): its request is sent again whatever
        /// its method. A one-time stream can be sent again as long as no more than 64 KiB of it have been read.
        public var repeatsAnyMethod = false
        /// TCP probes on an idle connection, to detect a peer that is gone. Default: `nil`, for none.
        /// [CURLOPT_TCP_KEEPALIVE](https://curl.se/libcurl/c/CURLOPT_TCP_KEEPALIVE.html)
        public var keepAlive: KeepAlive?
        /// The time for which the connection over the first address family is tried alone, in whole milliseconds from
        /// 1 ms to 60 s; then the other family is tried as well
        /// ([RFC 8305](https://www.rfc-editor.org/rfc/rfc8305)). Default: `nil`, for 200 ms.
        /// [CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS](https://curl.se/libcurl/c/CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS.html)
        public var happyEyeballsDelay: Duration?

        /// Creates the default options.
        public init() {}

        /// An IP address family.
        @nonexhaustive
        public enum IPVersion: Sendable, Hashable, CaseIterable {
            /// All addresses of the name.
            case any
            /// Only IPv4 addresses.
            case v4
            /// Only IPv6 addresses.
            case v6
        }

        /// A Unix socket on this machine. Linux has these two kinds, so that this enum stays closed.
        public enum UnixSocket: Sendable, Hashable {
            /// A socket in the file system, with a path of at most 107 bytes.
            /// [CURLOPT_UNIX_SOCKET_PATH](https://curl.se/libcurl/c/CURLOPT_UNIX_SOCKET_PATH.html)
            case path(String)
            /// A socket in Linux's abstract namespace, with a name of at most 106 bytes without the leading NUL.
            /// [CURLOPT_ABSTRACT_UNIX_SOCKET](https://curl.se/libcurl/c/CURLOPT_ABSTRACT_UNIX_SOCKET.html)
            case abstract(String)
        }

        /// The kernel's TCP keep-alive probes.
        /// [CURLOPT_TCP_KEEPALIVE](https://curl.se/libcurl/c/CURLOPT_TCP_KEEPALIVE.html)
        public struct KeepAlive: Sendable, Hashable {
            /// The idle time before the first probe, in whole seconds from 1 to 32,767. Default: 60 s.
            /// [CURLOPT_TCP_KEEPIDLE](https://curl.se/libcurl/c/CURLOPT_TCP_KEEPIDLE.html)
            public var idle = Duration.seconds(60)
            /// The time between two probes, in whole seconds from 1 to 32,767. Default: 60 s.
            /// [CURLOPT_TCP_KEEPINTVL](https://curl.se/libcurl/c/CURLOPT_TCP_KEEPINTVL.html)
            public var interval = Duration.seconds(60)
            /// The number of unacknowledged probes after which the connection is closed, from 1 to 127. Requires
            /// libcurl 8.9. Default: `nil`, for the system's number.
            /// [CURLOPT_TCP_KEEPCNT](https://curl.se/libcurl/c/CURLOPT_TCP_KEEPCNT.html)
            public var probes: Int?

            /// Creates the default options.
            public init() {}
        }

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
            if let delay = happyEyeballsDelay, delay < .milliseconds(1) || delay > .seconds(60) {
                throw OptionCheck.invalid(
                    "connection.happyEyeballsDelay", "is \(delay); it must be from 1 ms to 60 s")
            }
        }

        /// The maximum length of an interface's name, in bytes (IFNAMSIZ, netdevice(7)).
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
                throw OptionCheck.invalid(
                    "connection.interface", "is neither an IP address nor the name of an interface")
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
}
