extension TransportOptions {
    /// How host names are resolved. Not supported by the URLSession transport.
    public struct Names: Sendable, Hashable, SafelyPrinted {
        /// Addresses for names that are then not looked up. They apply to this request only; other requests of the same
        /// dispatcher look the names up as usual. Such a request goes directly to the server and bypasses the
        /// environment's proxy. Default: none.
        /// [CURLOPT_RESOLVE](https://curl.se/libcurl/c/CURLOPT_RESOLVE.html)
        public var addresses: [StaticAddresses] = []
        /// Other places to connect to. The URL, `Host` and the name in the certificate stay the same. The first rule
        /// that matches applies. Default: none.
        /// [CURLOPT_CONNECT_TO](https://curl.se/libcurl/c/CURLOPT_CONNECT_TO.html)
        public var connectTo: [ConnectTo] = []
        /// How long a resolved name is cached, in whole seconds, up to a year; 0 disables the cache. Default: 60 s.
        /// [CURLOPT_DNS_CACHE_TIMEOUT](https://curl.se/libcurl/c/CURLOPT_DNS_CACHE_TIMEOUT.html)
        public var cacheTime = Duration.seconds(60)
        /// Whether the addresses of a name are tried in random order, new with each lookup and so each ``cacheTime``.
        /// Default: `false`, for the system's order ([RFC 6724](https://www.rfc-editor.org/rfc/rfc6724)).
        ///
        /// With it the processes of a fleet don't all use the first address. But an address of the other version of IP
        /// may come first too, which costs ``TransportOptions/Connection/happyEyeballsDelay`` where that version leads
        /// nowhere: set ``TransportOptions/Connection/ipVersion`` besides. To spread the requests of one process, use
        /// `AddressBalancer` of `NetworkResilience`.
        /// [CURLOPT_DNS_SHUFFLE_ADDRESSES](https://curl.se/libcurl/c/CURLOPT_DNS_SHUFFLE_ADDRESSES.html)
        public var shufflesAddresses = false
        /// The `https` URL of a DNS over HTTPS server to query instead of the system's resolver:
        /// `https://dns.example/dns-query`. Default: `nil`. ``NetworkError/Code/unsupported`` with libcurl 8.5 to 8.8,
        /// which use freed memory when such a lookup is given up.
        ///
        /// libcurl sends these requests itself. It verifies the server's certificate against
        /// ``TransportOptions/TLS/authorities``; no other option of ``TransportOptions/TLS`` applies to them, neither
        /// pinned keys nor the minimum version. They go through the proxy that the environment names. If the
        /// environment names one that the request itself must not use, the request fails with
        /// ``NetworkError/Code/unsupported``.
        /// [CURLOPT_DOH_URL](https://curl.se/libcurl/c/CURLOPT_DOH_URL.html)
        public var dnsOverHTTPS: String?

        /// Creates the default options.
        public init() {}

        /// The addresses of a name at a port.
        public struct StaticAddresses: Sendable, Hashable {
            /// The host name.
            public var host: String
            /// The port, from 1 to 65535.
            public var port: Int
            /// The IPv4 or IPv6 addresses, from 1 to 5, tried as if a resolver had returned them.
            public var addresses: [String]

            /// Creates an entry for a name and a port.
            public init(_ host: String, port: Int, _ addresses: [String]) {
                self.host = host
                self.port = port
                self.addresses = addresses
            }
        }

        /// A rule that replaces the place to connect to.
        public struct ConnectTo: Sendable, Hashable {
            /// The host in the URL; `nil` matches any.
            public var host: String?
            /// The port in the URL; `nil` matches any.
            public var port: Int?
            /// The host to connect to; `nil` keeps the URL's.
            public var toHost: String?
            /// The port to connect to; `nil` keeps the URL's.
            public var toPort: Int?

            /// Creates a rule. By default it matches every URL and changes nothing.
            public init(_ host: String? = nil, port: Int? = nil, toHost: String? = nil, toPort: Int? = nil) {
                self.host = host
                self.port = port
                self.toHost = toHost
                self.toPort = toPort
            }
        }

        /// The number of names with addresses of their own, and the host of a server for DNS over HTTPS.
        public var description: String {
            let names = "\(addresses.count) static names, \(connectTo.count) other targets, cached for \(cacheTime)"
            return names + (dnsOverHTTPS.map { ", resolved at \(Redaction().origin(of: $0))" } ?? "")
        }

        func check() throws {
            for entry in addresses {
                try OptionCheck.host(entry.host, "names.addresses")
                try OptionCheck.port(entry.port, "names.addresses")
                guard (1...5).contains(entry.addresses.count) else {
                    throw OptionCheck.invalid(
                        "names.addresses", "has \(entry.addresses.count) addresses; 1 to 5 are valid")
                }
                for address in entry.addresses
                where AddressPolicy.Address(address) == nil || address.utf8.contains(UInt8(ascii: "%")) {
                    throw OptionCheck.invalid(
                        "names.addresses", "has an entry that is not an IP address without a zone")
                }
            }
            for rule in connectTo {
                for host in [rule.host, rule.toHost] { if let host { try OptionCheck.host(host, "names.connectTo") } }
                for port in [rule.port, rule.toPort] { if let port { try OptionCheck.port(port, "names.connectTo") } }
            }
            guard cacheTime >= .zero, cacheTime <= TransportOptions.maximumTimeout else {
                throw OptionCheck.invalid("names.cacheTime", "is \(cacheTime); it must be from 0 to a year")
            }
            if let dnsOverHTTPS {
                do {
                    let url = try RequestURL(ascii: dnsOverHTTPS)
                    if url.scheme != "https" { throw OptionCheck.invalid("names.dnsOverHTTPS", "is not an https URL") }
                } catch {
                    let reason = (error as? NetworkError)?.message ?? "\(error)"
                    throw OptionCheck.invalid("names.dnsOverHTTPS", "is not an https URL: \(reason)")
                }
            }
        }

        var required: [TransportCapabilities.Capability] { [.nameOptions] }
    }
}
