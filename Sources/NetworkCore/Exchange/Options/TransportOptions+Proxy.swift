public import HTTPTypes

extension TransportOptions {
    /// The proxy to connect through. Not supported by the URLSession transport, which follows the environment.
    @nonexhaustive
    public enum Proxy: Sendable, Hashable {
        /// The proxy that the environment names: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. The environment
        /// is not read for every request, so changes while the program runs may have no effect. `no_proxy` is a list
        /// as ``Proxy/Server/noProxy`` is, separated by commas and blanks.
        case environment
        /// No proxy, whatever the environment names. Sets an empty
        /// [CURLOPT_PROXY](https://curl.se/libcurl/c/CURLOPT_PROXY.html).
        case none
        /// The given proxy, whatever the environment names.
        case explicit(Proxy.Server)
    }
}

extension TransportOptions.Proxy {
    /// A proxy server.
    public struct Server: Sendable, Hashable, SafelyPrinted {
        /// The proxy's scheme, host and port, without user and password.
        ///
        /// The schemes are `http://`, `https://` (TLS to the proxy), `socks4://`, `socks4a://`,
        /// `socks5://` and `socks5h://`. With `socks4a` and `socks5h` the proxy looks up the server's name; with
        /// `socks4` and `socks5` libcurl does. Default port: 443 for `https`, 1080 for the others. Connections through
        /// an `https://` proxy are not kept.
        /// [CURLOPT_PROXY](https://curl.se/libcurl/c/CURLOPT_PROXY.html)
        public var url: String
        /// The user name. Default: `nil`. [CURLOPT_PROXYUSERNAME](https://curl.se/libcurl/c/CURLOPT_PROXYUSERNAME.html)
        public var user: String?
        /// The password, which requires a ``user``. Default: `nil`.
        /// [CURLOPT_PROXYPASSWORD](https://curl.se/libcurl/c/CURLOPT_PROXYPASSWORD.html)
        public var password: TransportOptions.Secret?
        /// How user and password are sent to an HTTP proxy. SOCKS proxies always receive them in the clear, so that
        /// another scheme than ``AuthenticationScheme/basic``, the default, is ``NetworkError/Code/invalidOption`` with
        /// them.
        /// [CURLOPT_PROXYAUTH](https://curl.se/libcurl/c/CURLOPT_PROXYAUTH.html)
        public var authenticationScheme = AuthenticationScheme.basic
        /// Hosts to reach without the proxy: names, which include their subdomains, addresses (`::1`, `[::1]`) and
        /// networks (`10.0.0.0/8`, `fd00::/8`); `*` matches every host. They are compared with the URL's host, alike
        /// over each libcurl, which gets no list. Default: none.
        public var noProxy: [String] = []
        /// Whether `http` URLs go through a CONNECT tunnel too, as `https` URLs always do. Default: `false`, with which
        /// an HTTP proxy receives the complete request. Not for SOCKS proxies.
        /// [CURLOPT_HTTPPROXYTUNNEL](https://curl.se/libcurl/c/CURLOPT_HTTPPROXYTUNNEL.html)
        public var tunnel = false
        /// Header fields for the proxy only, never sent to the server. Fields that frame a message, name the host,
        /// control the connection or carry credentials are refused. Not for SOCKS proxies.
        /// Default: none.
        /// [CURLOPT_PROXYHEADER](https://curl.se/libcurl/c/CURLOPT_PROXYHEADER.html)
        public var headerFields: HTTPFields = [:]
        /// The certificate authorities to trust for an `https://` proxy. Default: the system's.
        /// [CURLOPT_PROXY_CAINFO](https://curl.se/libcurl/c/CURLOPT_PROXY_CAINFO.html),
        /// [CURLOPT_PROXY_CAPATH](https://curl.se/libcurl/c/CURLOPT_PROXY_CAPATH.html),
        /// [CURLOPT_PROXY_CAINFO_BLOB](https://curl.se/libcurl/c/CURLOPT_PROXY_CAINFO_BLOB.html)
        public var authorities = TransportOptions.TLS.Authorities.system

        /// Creates a proxy from its URL. A user and a password in the URL (`http://me:p%40ss@proxy.example:3128`) are
        /// removed from it, and used if no `user` is given.
        public init(_ url: String, user: String? = nil, password: TransportOptions.Secret? = nil) {
            (self.url, self.user, self.password) = (url, user, password)
            guard let start = url.utf8.firstRange(of: "://".utf8)?.upperBound else { return }
            let authority = url.utf8[start...].prefix { !"/?#".utf8.contains($0) }
            // A userinfo that can't be read stays in the URL, and the check of the request refuses it.
            guard let end = authority.lastIndex(of: UInt8(ascii: "@")),
                let userinfo = try? Userinfo(Array(authority[..<end])[...])
            else { return }
            self.url = String(url[..<start] + url[url.utf8.index(after: end)...])
            guard user == nil, userinfo.authentication != nil else { return }
            (self.user, self.password) = (userinfo.user, password ?? userinfo.password)
        }

        /// How user and password are sent to an HTTP proxy.
        @nonexhaustive
        public enum AuthenticationScheme: Sendable, Hashable, CaseIterable {
            /// In the clear.
            case basic
            /// As a digest ([RFC 7616](https://www.rfc-editor.org/rfc/rfc7616)), after the proxy's challenge. A nonce
            /// serves the next requests with the next count. Where the proxy refuses the credentials, its 407 is the
            /// response to a request for an `http` URL, and ``NetworkError/Code/proxyFailed`` for a tunnel.
            case digest
            /// The strongest scheme that the proxy offers and that does not show the password: Digest.
            case anySafe
        }

        static let schemes: Set<String> = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

        /// Fields that frame a message, name its host, control its connection or carry credentials.
        private static let ownFields: Set<String> = [
            "content-length", "transfer-encoding", "host", "connection", "proxy-connection", "keep-alive",
            "proxy-authorization", "te", "upgrade", "http2-settings", "expect", "trailer",
        ]

        func check() throws {
            try OptionCheck.text(url, "proxy.url")
            guard let end = url.firstRange(of: "://"), Self.schemes.contains(url[..<end.lowerBound].lowercasedASCII)
            else {
                throw OptionCheck.invalid(
                    "proxy.url", "must start with http, https, socks4, socks4a, socks5 or socks5h://")
            }
            let authority: RequestURL
            do { authority = try RequestURL(ascii: "http://" + url[end.upperBound...]) } catch {
                // The URL's own error is not quoted: it may contain a password.
                throw OptionCheck.invalid("proxy.url", "must be scheme, host and port, without user or password")
            }
            guard authority.path == "/", authority.query == nil, !url.contains(byte: UInt8(ascii: "#")) else {
                throw OptionCheck.invalid("proxy.url", "has more than scheme, host and port")
            }
            if user == nil, password != nil { throw OptionCheck.invalid("proxy.password", "is given without a user") }
            if let user {
                try OptionCheck.text(user, "proxy.user")
                if user.contains(byte: UInt8(ascii: ":")) {
                    throw OptionCheck.invalid("proxy.user", "has ':', which ends it (RFC 7617 §2)")
                }
            }
            if let password { try OptionCheck.text(password.value, "proxy.password", mayBeEmpty: true) }
            for field in headerFields {
                try field.checkValue()
                let name = field.name.rawName
                if Self.ownFields.contains(name.lowercasedASCII) {
                    throw OptionCheck.invalid(
                        "proxy.headerFields", "has '\(name)', which the library writes or leaves out")
                }
            }
            for host in noProxy { try OptionCheck.token(host, "proxy.noProxy", without: ",") }
            try authorities.check("proxy.authorities")
            try checkKind()
        }

        private func checkKind() throws {
            if !isHTTPS, authorities != .system {
                throw OptionCheck.invalid("proxy.authorities", "has a meaning for an https:// proxy alone")
            }
            guard !isHTTP else { return }
            if authenticationScheme != .basic {
                throw OptionCheck.invalid(
                    "proxy.authenticationScheme",
                    "has no meaning for a SOCKS proxy, which receives user and password in the clear")
            }
            if tunnel { throw OptionCheck.invalid("proxy.tunnel", "has no meaning for a SOCKS proxy") }
            if !headerFields.isEmpty {
                throw OptionCheck.invalid("proxy.headerFields", "have no meaning for a SOCKS proxy")
            }
            if let password, !password.value.isEmpty, url.lowercasedASCII.hasBytePrefix("socks4") {
                throw OptionCheck.invalid(
                    "proxy.password", "can't be sent to a SOCKS 4 proxy, which takes a user alone")
            }
        }

        package func isPassed(by url: RequestURL) -> Bool {
            ProxyExceptions(noProxy.joined(separator: ",")).contains(url.host)
        }

        package var isHTTPS: Bool { url.lowercasedASCII.hasBytePrefix("https://") }
        var isHTTP: Bool { url.lowercasedASCII.hasBytePrefix("http") }

        /// The kind, host and port.
        public var description: String { Redaction().url(url) }
    }

    func check() throws {
        if case .explicit(let proxy) = self { try proxy.check() }
    }

    var required: [TransportCapabilities.Capability] {
        guard case .explicit(let proxy) = self else { return [.proxyOptions] }
        var required = [TransportCapabilities.Capability.proxyOptions]
        if proxy.isHTTPS { required.append(.httpsProxies) }
        if case .bytes = proxy.authorities { required.append(.authoritiesInMemory) }
        return required
    }
}

/// A list of hosts to reach without the proxy, of the environment or of an option. Pure.
package struct ProxyExceptions: Sendable {
    private let entries: [String]

    package init(_ list: String) {
        entries = list.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }

    package func contains(_ host: String) -> Bool {
        if entries.contains("*") { return true }
        let host = Self.plain(host.lowercased())
        if let address = AddressPolicy.Address(host) {
            return entries.contains { entry in
                (try? AddressPolicy.Range(Self.plain(entry)))?.contains(address) ?? false
            }
        }
        return entries.contains { entry in
            let name = Self.plain(entry.hasPrefix(".") ? String(entry.dropFirst()) : entry)
            return !name.isEmpty && (host == name || host.hasByteSuffix("." + name))
        }
    }

    /// Returns a host without brackets and without the dot of a complete name.
    private static func plain(_ host: String) -> String {
        let name = withoutBrackets(host)
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    package static func withoutBrackets(_ host: String) -> String {
        host.hasBytePrefix("[") && host.hasByteSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
