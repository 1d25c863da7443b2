public import HTTPTypes

extension TransportOptions {
    /// Through whom to connect. Not for URLSession, which follows the environment.
    public struct Proxy: Sendable, Hashable {
        /// ``Choice/environment`` by default.
        public var choice: Choice

        /// What the environment says.
        public init() { choice = .environment }

        init(_ choice: Choice) { self.choice = choice }

        /// What the environment says: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. It is not read for every
        /// request, so that what changes while the program runs may go unseen.
        public static let environment = Proxy()
        /// Straight to the server, whatever the environment says (CURLOPT_PROXY, empty).
        public static let none = Proxy(.none)
        /// Through that one, whatever the environment says.
        public static func explicit(_ proxy: Proxy.Server) -> Proxy {
            Proxy(.explicit(proxy))
        }

        /// Where the decision comes from.
        public enum Choice: Sendable, Hashable {
            /// The environment.
            case environment
            /// No proxy.
            case none
            /// The caller.
            case explicit(Proxy.Server)
        }
    }
}

extension TransportOptions.Proxy {
    /// A proxy.
    public struct Server: Sendable, Hashable {
        /// Kind, host and port (CURLOPT_PROXY): `http://`, `https://` (TLS to the proxy, libcurl 7.52), `socks4://`,
        /// `socks4a://`, `socks5://`, `socks5h://`. With `socks4a` and `socks5h` the proxy looks up the server's name,
        /// with `socks4` and `socks5` we do. User and password don't stand here. Connections through an `https://`
        /// proxy to an http: URL are not kept. Without a port: 443 with `https`, else 1080.
        public var url: String
        /// The user (CURLOPT_PROXYUSERNAME). None by default.
        public var user: String?
        /// The password (CURLOPT_PROXYPASSWORD).
        public var password: TransportOptions.Secret?
        /// How an HTTP proxy learns user and password (CURLOPT_PROXYAUTH). ``Scheme/basic`` by default.
        public var scheme = Scheme.basic
        /// Hosts that are reached without it (CURLOPT_NOPROXY): names, which stand for what is below them too,
        /// addresses, and from 7.86 networks (`10.0.0.0/8`); `*` is every host. None by default.
        public var noProxy: [String] = []
        /// Whether http: URLs go through a CONNECT tunnel too, as https: ones always do (CURLOPT_HTTPPROXYTUNNEL). Off
        /// by default: an HTTP proxy gets the whole request then.
        public var tunnel = false
        /// Header fields for the proxy alone (CURLOPT_PROXYHEADER, 7.37), never sent to the server. None that frames a
        /// message, names the host, says how the connection is used or who asks: those are refused.
        public var headerFields: HTTPFields = [:]
        /// Who may vouch for an `https://` proxy (CURLOPT_PROXY_CAINFO, PROXY_CAPATH, PROXY_CAINFO_BLOB). The system's
        /// by default.
        public var authorities = TransportOptions.TLS.Authorities.system

        /// A proxy at a URL. User and password that stand in it (`http://me:p%40ss@proxy.example:3128`) are taken out
        /// of it, and count where no user is given.
        public init(_ url: String, user: String? = nil, password: TransportOptions.Secret? = nil) {
            (self.url, self.user, self.password) = (url, user, password)
            guard let start = url.utf8.firstRange(of: "://".utf8)?.upperBound else { return }
            let authority = url.utf8[start...].prefix { !"/?#".utf8.contains($0) }
            // What can't be read stays where it is, and is refused when the request is checked.
            guard let end = authority.lastIndex(of: UInt8(ascii: "@")),
                let userinfo = try? Userinfo(Array(authority[..<end])[...])
            else { return }
            self.url = String(url[..<start] + url[url.utf8.index(after: end)...])
            guard user == nil, userinfo.authentication != nil else { return }
            (self.user, self.password) = (userinfo.user, password ?? userinfo.password)
        }

        /// How user and password are told.
        public enum Scheme: Sendable, Hashable, CaseIterable {
            /// In clear, as SOCKS proxies have it anyway.
            case basic
            /// By a digest (RFC 7616), after the proxy asked.
            case digest
            /// The strongest that the proxy offers, never Basic (CURLAUTH_ANYSAFE).
            case anySafe
        }

        static let schemes: Set<String> = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

        /// What frames a message, says where it goes, how its connection is used, or who asks.
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
                // The words of the URL's error are not shown: it may hold a password.
                throw OptionCheck.invalid("proxy.url", "is not scheme, host and port; user and password stand apart")
            }
            guard authority.path == "/", authority.query == nil else {
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
        }

        /// Whether TLS is spoken to the proxy itself.
        package var isHTTPS: Bool { url.lowercasedASCII.hasBytePrefix("https://") }
        /// Whether it speaks HTTP and not SOCKS.
        package var isHTTP: Bool { url.lowercasedASCII.hasBytePrefix("http") }
    }
}

extension TransportOptions.Proxy: TransportOptionGroup {
    func check() throws {
        if case .explicit(let proxy) = choice { try proxy.check() }
    }

    var required: [TransportCapabilities.Capability] {
        guard case .explicit(let proxy) = choice else { return [.proxyOptions] }
        var required = [TransportCapabilities.Capability.proxyOptions]
        if proxy.isHTTPS { required.append(.httpsProxies) }
        if case .bytes = proxy.authorities { required.append(.authoritiesInMemory) }
        return required
    }
}
