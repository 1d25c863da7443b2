extension TransportOptions {
    /// How names become addresses. Not for URLSession.
    public struct Names: Sendable, Hashable {
        /// Addresses that are known without asking (CURLOPT_RESOLVE, 7.21). For this request alone: other requests of
        /// the same dispatcher look the name up as ever. Such a request goes straight to the server, past the
        /// environment's proxy.
        public var addresses: [StaticAddresses] = []
        /// Where to connect instead (CURLOPT_CONNECT_TO, 7.49). URL, `Host` and the certificate's name stay. The first
        /// rule that fits counts.
        public var connectTo: [ConnectTo] = []
        /// How long a looked-up name is remembered, in whole seconds (CURLOPT_DNS_CACHE_TIMEOUT); 0 for not at all. 60
        /// s by default.
        public var cacheTime = Duration.seconds(60)
        /// A server to ask by DNS over HTTPS (CURLOPT_DOH_URL, 7.62) instead of the system:
        /// `https://dns.example/dns-query`. None by default.
        ///
        /// libcurl makes these requests itself: the service's certificate is verified, against
        /// ``TransportOptions/TLS/authorities``, and nothing else of ``TransportOptions/TLS`` holds for them, no pinned
        /// key and no lowest version. They go by the proxy that the environment names; a request that is not to use
        /// that one is then ``NetworkError/Code/unsupported``.
        public var dnsOverHTTPS: String?

        /// The defaults.
        public init() {}

        /// A name's addresses.
        public struct StaticAddresses: Sendable, Hashable {
            /// The name.
            public var host: String
            /// The port.
            public var port: Int
            /// IPv4 or IPv6 addresses, from 1 to 5, tried as if a resolver had given them.
            public var addresses: [String]

            /// Addresses of a name.
            public init(_ host: String, port: Int, _ addresses: [String]) {
                self.host = host
                self.port = port
                self.addresses = addresses
            }
        }

        /// Another place to connect to.
        public struct ConnectTo: Sendable, Hashable {
            /// The URL's host; `nil` for any.
            public var host: String?
            /// The URL's port; `nil` for any.
            public var port: Int?
            /// The host to connect to; `nil` for the URL's.
            public var toHost: String?
            /// The port to connect to; `nil` for the URL's.
            public var toPort: Int?

            /// A rule.
            public init(_ host: String? = nil, port: Int? = nil, toHost: String? = nil, toPort: Int? = nil) {
                self.host = host
                self.port = port
                self.toHost = toHost
                self.toPort = toPort
            }
        }
    }
}

extension TransportOptions.Names: TransportOptionGroup {
    func check() throws {
        for entry in addresses {
            try OptionCheck.host(entry.host, "names.addresses")
            try OptionCheck.port(entry.port, "names.addresses")
            guard (1...5).contains(entry.addresses.count) else {
                throw OptionCheck.invalid("names.addresses", "has \(entry.addresses.count) addresses; 1 to 5 are taken")
            }
            for address in entry.addresses
            where AddressPolicy.Address(address) == nil || address.utf8.contains(UInt8(ascii: "%")) {
                throw OptionCheck.invalid("names.addresses", "has what is not an IP address without a zone")
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
