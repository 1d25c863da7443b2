import ArgumentParser
import NetworkLayer

/// The options for the connection, names, rates, TLS and the proxy, under the names that curl(1) gives them.
struct WireFlags: ParsableArguments {
    @Option(help: .init("The longest time to a usable connection. (default: 10)", valueName: "seconds"))
    var connectTimeout: Double?

    @Flag(help: "The version of HTTP. (default: the transport's choice)") var http: HTTPFlag?

    @Flag(help: "The version of IP. (default: either)") var ipVersion: IPFlag?

    @Option(
        help: .init("Addresses for a host and port, 'host:port:address,address'. May be repeated.", valueName: "entry"),
        transform: Self.addresses)
    var resolve: [TransportOptions.Names.StaticAddresses] = []

    @Option(
        help: .init(
            "Connect elsewhere, 'host:port:host:port'; what is left out is any, or unchanged. May be repeated.",
            valueName: "rule"),
        transform: Self.rule)
    var connectTo: [TransportOptions.Names.ConnectTo] = []

    @Option(name: .customLong("doh-url"), help: .init("Look names up over HTTPS there.", valueName: "url"))
    var dnsOverHTTPS: String?

    @Option(help: .init("Connect to a Unix socket instead.", valueName: "path")) var unixSocket: String?

    @Option(help: .init("The same, in the abstract namespace.", valueName: "name")) var abstractUnixSocket: String?

    @Option(help: .init("The interface or address to connect from.", valueName: "name")) var interface: String?

    @Option(help: .init("The local port, or a range of them, '4000-4010'.", valueName: "ports"), transform: Self.ports)
    var localPort: ClosedRange<Int>?

    @Option(help: .init("TCP keep-alive after so long without data.", valueName: "seconds")) var keepaliveTime: Int?

    @Option(
        help: .init(
            "The most bytes a second in each direction, with k, M or G for powers of 1024.", valueName: "rate"),
        transform: Self.bytes)
    var limitRate: Int?

    @Option(help: .init("Fail below so many bytes a second, for --speed-time seconds.", valueName: "rate"))
    var speedLimit: Int?

    @Option(help: .init("How long. (default: 30)", valueName: "seconds")) var speedTime: Int?

    @Option(help: .init("How many TCP keep-alive probes may be lost.", valueName: "number")) var keepaliveCnt: Int?

    @Option(help: .init("The time before IPv4 is tried besides IPv6. (default: 200)", valueName: "milliseconds"))
    var happyEyeballsTimeoutMs: Int?

    @Option(help: .init("Send Expect: 100-continue, and wait so long for the 100.", valueName: "seconds"))
    var expect100Timeout: Double?

    @Option(help: .init("The groups of the TLS key exchange, 'X25519:P-256'.", valueName: "list")) var curves: String?

    @Option(help: .init("The TLS signature algorithms, 'ed25519:RSA-PSS+SHA256'.", valueName: "list"))
    var sigalgs: String?

    // MARK: TLS

    @Option(help: .init("Trust the authorities of this PEM file instead of the system's.", valueName: "file"))
    var cacert: String?

    @Option(help: .init("Trust those of a directory, as c_rehash makes it.", valueName: "directory"))
    var capath: String?

    @Option(
        name: [.customShort("E"), .long],
        help: .init(
            "The client's certificate, PEM; its key's password may follow. A colon of the file's name is '\\:'.",
            valueName: "file[:password]"))
    var cert: String?

    @Option(help: .init("Its key, PEM, if it is not in the same file.", valueName: "file")) var key: String?

    @Option(parsing: .unconditional, help: .init("The key's password; others see it in 'ps'.", valueName: "password"))
    var pass: String?

    @Option(
        name: .customLong("pinnedpubkey"),
        help: .init("Public keys of which the server must have one: 'sha256//…;sha256//…'.", valueName: "pins"))
    var pins: String?

    @Flag(help: "The oldest version of TLS to speak. (default: --tlsv1.2)") var oldestTLS: TLSFlag?

    @Option(help: .init("The newest version of TLS to speak: 1.0 to 1.3.", valueName: "version")) var tlsMax: TLSFlag?

    @Option(help: .init("The cipher suites for TLS 1.2 and older, as OpenSSL names them.", valueName: "list"))
    var ciphers: String?

    @Option(name: .customLong("tls13-ciphers"), help: .init("The cipher suites for TLS 1.3.", valueName: "list"))
    var cipherSuites: String?

    // MARK: The proxy

    @Option(
        name: [.customShort("x"), .long],
        help: .init(
            "The proxy: http, https, socks4, socks4a, socks5 or socks5h; empty for none, whatever the environment is.",
            valueName: "url"))
    var proxy: String?

    @Option(help: .init("Hosts that need no proxy, with commas; '*' for all of them.", valueName: "hosts"))
    var noproxy: String?

    @Option(
        name: [.customShort("U"), .long],
        help: .init("Name and password for the proxy; others see them in 'ps'.", valueName: "name:password"))
    var proxyUser: String?

    @Flag(help: "How --proxy-user is sent: as Digest, or as the strongest that the proxy offers. (default: Basic)")
    var proxyScheme: ProxyScheme?

    @Flag(name: [.customShort("p"), .customLong("proxytunnel")], help: "Tunnel through the proxy for http URLs too.")
    var tunnel = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("A header field for the proxy alone, 'Name: value'. May be repeated.", valueName: "field"))
    var proxyHeader: [String] = []

    @Option(help: .init("The authorities for an https proxy, a PEM file.", valueName: "file")) var proxyCacert: String?

    @Option(help: .init("The same, a directory as c_rehash makes it.", valueName: "directory")) var proxyCapath: String?

    // MARK: Values

    enum HTTPFlag: String, EnumerableFlag {
        case http1_0 = "1.0"
        case http1_1 = "1.1"
        case http2 = "2"
        case http2PriorKnowledge = "2-prior-knowledge"
        case http3 = "3"
        case http3Only = "3-only"

        static func name(for value: Self) -> NameSpecification {
            let long = NameSpecification.Element.customLong("http\(value.rawValue)")
            return value == .http1_0 ? [.customShort("0"), long] : [long]
        }
    }

    enum IPFlag: EnumerableFlag {
        case ipv4, ipv6

        static func name(for value: Self) -> NameSpecification { [.customShort(value == .ipv4 ? "4" : "6"), .long] }
    }

    /// `--tlsv1.2` and `--tls-max 1.2`.
    enum TLSFlag: Int, EnumerableFlag, ExpressibleByArgument {
        case tls1_0, tls1_1, tls1_2, tls1_3

        init?(argument: String) {
            guard let own = Self.allCases.first(where: { "1.\($0.rawValue)" == argument }) else { return nil }
            self = own
        }

        static func name(for value: Self) -> NameSpecification { .customLong("tlsv1.\(value.rawValue)") }
    }

    enum ProxyScheme: EnumerableFlag { case proxyBasic, proxyDigest, proxyAnyauth }

    private static func addresses(_ text: String) throws -> TransportOptions.Names.StaticAddresses {
        guard let match = text.wholeMatch(of: /(\[[^\]]+\]|[^:\[]+):([0-9]+):(.+)/), let port = Int(match.2) else {
            throw ValidationError("write it as 'host:port:address'")
        }
        let addresses = match.3.split(separator: ",").map { word in
            String(word.hasPrefix("[") && word.hasSuffix("]") ? word.dropFirst().dropLast() : word)
        }
        return .init(String(match.1), port: port, addresses)
    }

    private static func rule(_ text: String) throws -> TransportOptions.Names.ConnectTo {
        let parts = /(\[[^\]]+\]|[^:\[]*):([0-9]*):(\[[^\]]+\]|[^:\[]*):([0-9]*)/
        guard let match = text.wholeMatch(of: parts) else { throw ValidationError("write it as 'host:port:host:port'") }
        func host(_ word: Substring) -> String? { word.isEmpty ? nil : String(word) }
        return .init(host(match.1), port: Int(match.2), toHost: host(match.3), toPort: Int(match.4))
    }

    private static func ports(_ text: String) throws -> ClosedRange<Int> {
        guard let match = text.wholeMatch(of: /([0-9]+)(?:-([0-9]+))?/), let first = Int(match.1),
            let last = Int(match.2 ?? match.1), first <= last
        else { throw ValidationError("it takes a port, or two with a '-' between") }
        return first...last
    }

    private static func bytes(_ text: String) throws -> Int {
        let units = ["k": 10, "m": 20, "g": 30]
        let match = text.wholeMatch(of: /([0-9]+)([kKmMgGbB]?)/)
        guard let match, let count = Int(match.1), case let unit = 1 << units[match.2.lowercased(), default: 0],
            count <= Int.max / unit
        else { throw ValidationError("it takes bytes a second, '200k' for example") }
        return count * unit
    }

    func validate() throws {
        _ = try OptionChecks.timeout(connectTimeout, "--connect-timeout")
        _ = try OptionChecks.timeout(expect100Timeout, "--expect100-timeout")
        try refuse(
            if: unixSocket != nil && abstractUnixSocket != nil,
            "--unix-socket and --abstract-unix-socket exclude one another")
        try refuse(if: speedTime != nil && speedLimit == nil, "--speed-time has no meaning without --speed-limit")
        try refuse(if: cacert != nil && capath != nil, "--cacert and --capath exclude one another")
        try refuse(if: cert == nil && (key != nil || pass != nil), "--key and --pass need --cert")
        let isNamed = proxy?.isEmpty == false
        let hasDetails =
            proxyUser != nil || proxyScheme != nil || tunnel || !proxyHeader.isEmpty || proxyCacert != nil
            || proxyCapath != nil
        try refuse(if: hasDetails && !isNamed, "the options for a proxy need --proxy")
        if let noproxy, noproxy != "*", !isNamed { throw ValidationError("--noproxy with hosts needs --proxy") }
        try refuse(
            if: proxyCacert != nil && proxyCapath != nil, "--proxy-cacert and --proxy-capath exclude one another")
        try OptionChecks.nameAndPassword(proxyUser, "--proxy-user")
        try refuse(
            if: proxyScheme != nil && proxyUser == nil,
            "--proxy-digest and --proxy-anyauth have no meaning without --proxy-user")
        try OptionChecks.fields(proxyHeader, "--proxy-header")
    }

    // MARK: The options of a request

    func apply(to options: inout TransportOptions) throws {
        if let connectTimeout { options.connectTimeout = .seconds(connectTimeout) }
        if let version = http.flatMap({ TransportOptions.HTTPVersion(rawValue: $0.rawValue) }) {
            options.httpVersion = version
        }
        if let ipVersion { options.connection.ipVersion = ipVersion == .ipv4 ? .v4 : .v6 }
        if !resolve.isEmpty { options.names.addresses = resolve }
        if !connectTo.isEmpty { options.names.connectTo = connectTo }
        if let dnsOverHTTPS { options.names.dnsOverHTTPS = dnsOverHTTPS }
        if let unixSocket { options.connection.unixSocket = .path(unixSocket) }
        if let abstractUnixSocket { options.connection.unixSocket = .abstract(abstractUnixSocket) }
        if let interface { options.connection.interface = interface }
        if let localPort { options.connection.localPorts = localPort }
        if let keepaliveTime {
            var keepAlive = TransportOptions.Connection.KeepAlive()
            (keepAlive.idle, keepAlive.interval) = (.seconds(keepaliveTime), .seconds(keepaliveTime))
            options.connection.keepAlive = keepAlive
        }
        if let limitRate {
            (options.rate.maximumReceivedPerSecond, options.rate.maximumSentPerSecond) = (limitRate, limitRate)
        }
        if let speedLimit {
            options.rate.lowSpeed = .init(bytesPerSecond: speedLimit, for: .seconds(speedTime ?? 30))
        }
        if let keepaliveCnt {
            var keepAlive = options.connection.keepAlive ?? TransportOptions.Connection.KeepAlive()
            keepAlive.probes = keepaliveCnt
            options.connection.keepAlive = keepAlive
        }
        if let happyEyeballsTimeoutMs {
            options.connection.happyEyeballsDelay = .milliseconds(happyEyeballsTimeoutMs)
        }
        if let expect100Timeout { options.expectContinue = .seconds(expect100Timeout) }
        if let curves { options.tls.groups = curves }
        if let sigalgs { options.tls.signatureAlgorithms = sigalgs }
        applyTLS(to: &options.tls)
        try applyProxy(to: &options)
    }

    private func applyTLS(to tls: inout TransportOptions.TLS) {
        if let cacert { tls.authorities = .file(cacert) }
        if let capath { tls.authorities = .directory(capath) }
        if let cert {
            let (file, password) = Self.parts(of: cert)
            tls.clientCertificate = .init(
                .file(file), key: key.map { .file($0) },
                password: (pass ?? password).map { TransportOptions.Secret($0) })
        }
        if let pins { tls.pinnedPublicKeys = pins.split(separator: ";").map(String.init) }
        if let version = oldestTLS.flatMap({ TransportOptions.TLS.Version(rawValue: $0.rawValue) }) {
            tls.minimumVersion = version
        }
        if let version = tlsMax.flatMap({ TransportOptions.TLS.Version(rawValue: $0.rawValue) }) {
            tls.maximumVersion = version
        }
        if let ciphers { tls.ciphers = ciphers }
        if let cipherSuites { tls.cipherSuites = cipherSuites }
    }

    /// Returns the file and the password of `file:password`, as curl reads it: `\\:` is a colon of the file's name, and
    /// `\\\\` a backslash.
    static func parts(of text: String) -> (file: String, password: String?) {
        var file: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ":") { return (String(decoding: file, as: UTF8.self), String(Substring(rest))) }
            let isEscape = byte == UInt8(ascii: "\\") && (rest.first == UInt8(ascii: ":") || rest.first == byte)
            file.append(isEscape ? rest.removeFirst() : byte)
        }
        return (String(decoding: file, as: UTF8.self), nil)
    }

    private func applyProxy(to options: inout TransportOptions) throws {
        if proxy?.isEmpty == true || noproxy == "*" { return options.proxy = .none }
        guard let proxy else { return }
        let credentials = proxyUser?.splitAtColon
        var server = TransportOptions.Proxy.Server(
            proxy, user: credentials?.name, password: credentials.map { TransportOptions.Secret($0.value) })
        if proxyScheme == .proxyDigest { server.authenticationScheme = .digest }
        if proxyScheme == .proxyAnyauth { server.authenticationScheme = .anySafe }
        server.tunnel = tunnel
        if let noproxy { server.noProxy = noproxy.split { ", ".contains($0) }.map(String.init) }
        for (name, value) in proxyHeader.map(\.splitAtColon) {
            server.headerFields.append(try HTTPField(checking: name, value: value))
        }
        if let proxyCacert { server.authorities = .file(proxyCacert) }
        if let proxyCapath { server.authorities = .directory(proxyCapath) }
        options.proxy = .explicit(server)
    }
}
