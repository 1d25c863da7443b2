import ArgumentParser
import NetworkLayer

/// The options of `fetch` for the proxy, under the names that curl(1) gives them.
struct ProxyFlags: ParsableArguments {
    @Option(
        name: [.customShort("x"), .long],
        help: ArgumentHelp(
            "The proxy: http, https, socks4, socks4a, socks5 or socks5h; empty for none, whatever the environment is.",
            valueName: "url"
        )
    )
    var proxy: String?

    @Option(
        name: .customLong("noproxy"),
        help: ArgumentHelp("Hosts that need no proxy, with commas; '*' for all of them.", valueName: "hosts"))
    var exempt: String?

    @Option(
        name: [.customShort("U"), .long],
        help: ArgumentHelp("Name and password for the proxy; others see them in 'ps'.", valueName: "name:password"))
    var proxyUser: String?

    @Flag(help: "How --proxy-user is sent: as Digest, or as the strongest that the proxy offers. (default: Basic)")
    var scheme: Scheme?

    @Flag(name: [.customShort("p"), .customLong("proxytunnel")], help: "Tunnel through the proxy for http URLs too.")
    var tunnel = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header field for the proxy alone, 'Name: value'. May be repeated.", valueName: "field"))
    var proxyHeader: [String] = []

    @Option(
        name: .customLong("proxy-cacert"),
        help: ArgumentHelp("The authorities for an https proxy, a PEM file.", valueName: "file"))
    var authorities: String?

    @Option(
        name: .customLong("proxy-capath"),
        help: ArgumentHelp("The same, a directory as c_rehash makes it.", valueName: "directory"))
    var authoritiesDirectory: String?

    /// `--proxy-digest` and `--proxy-anyauth`.
    enum Scheme: EnumerableFlag {
        case basic, digest, anySafe

        static func name(for value: Scheme) -> NameSpecification {
            switch value {
            case .basic: .customLong("proxy-basic")
            case .digest: .customLong("proxy-digest")
            case .anySafe: .customLong("proxy-anyauth")
            }
        }
    }

    private var hasDetails: Bool {
        proxyUser != nil || scheme != nil || tunnel || !proxyHeader.isEmpty || authorities != nil
            || authoritiesDirectory != nil
    }

    func validate() throws {
        let isNamed = proxy.map { !$0.isEmpty } ?? false
        if hasDetails, !isNamed { throw ValidationError("the options for a proxy need --proxy") }
        if let exempt, exempt != "*", !isNamed { throw ValidationError("--noproxy with hosts needs --proxy") }
        if authorities != nil, authoritiesDirectory != nil {
            throw ValidationError("--proxy-cacert and --proxy-capath exclude one another")
        }
        if let proxyUser, !proxyUser.utf8.contains(UInt8(ascii: ":")) {
            // The text is not repeated: it may be the password.
            throw ValidationError("--proxy-user takes 'name:password'; there is no ':' in it")
        }
        if scheme != nil, proxyUser == nil {
            throw ValidationError("--proxy-digest and --proxy-anyauth have no meaning without --proxy-user")
        }
        for (index, field) in proxyHeader.enumerated() where !field.utf8.contains(UInt8(ascii: ":")) {
            throw ValidationError("--proxy-header \(index + 1) has no ':'; write it as 'Name: value'")
        }
    }

    /// - Throws: ``NetworkError/Code/invalidHeaderField`` for a field that is none.
    func apply(to options: inout TransportOptions) throws {
        if proxy?.isEmpty == true || exempt == "*" { return options.proxy = .none }
        guard let proxy else { return }
        let credentials = proxyUser?.splitAtColon
        var server = TransportOptions.Proxy.Server(
            proxy, user: credentials?.name, password: credentials.map { TransportOptions.Secret($0.value) })
        switch scheme {
        case nil, .basic: break
        case .digest: server.authenticationScheme = .digest
        case .anySafe: server.authenticationScheme = .anySafe
        }
        server.tunnel = tunnel
        if let exempt { server.noProxy = exempt.split { ", ".contains($0) }.map(String.init) }
        for field in proxyHeader {
            let (name, value) = field.splitAtColon
            server.headerFields.append(try HTTPField(checking: name, value: value))
        }
        if let authorities { server.authorities = .file(authorities) }
        if let authoritiesDirectory { server.authorities = .directory(authoritiesDirectory) }
        options.proxy = .explicit(server)
    }
}

extension String {
    /// What stands before the first colon, and what behind it.
    var splitAtColon: (name: String, value: String) {
        // By bytes: a mark that combines with the colon would hide it among the characters.
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { return (self, "") }
        return (String(Substring(utf8[..<colon])), String(Substring(utf8[utf8.index(after: colon)...])))
    }
}
