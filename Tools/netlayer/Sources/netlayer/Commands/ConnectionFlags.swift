import ArgumentParser
import NetworkLayer

/// The options of `fetch` for the connection, names and rates, under the names that curl(1) gives them.
struct ConnectionFlags: ParsableArguments {
    @Option(help: ArgumentHelp("The longest time to a usable connection. (default: 10)", valueName: "seconds"))
    var connectTimeout: Double?

    @Flag(help: "The version of HTTP. (default: the transport's choice)") var http: HTTPFlag?

    @Flag(help: "The version of IP. (default: either)") var ipVersion: IPFlag?

    @Option(
        help: ArgumentHelp(
            "Addresses for a host and port, 'host:port:address,address'. May be repeated.", valueName: "entry"),
        transform: Resolve.init)
    var resolve: [Resolve] = []

    @Option(
        help: ArgumentHelp(
            "Connect elsewhere, 'host:port:host:port'; what is left out is any, or unchanged. May be repeated.",
            valueName: "rule"),
        transform: ConnectTo.init)
    var connectTo: [ConnectTo] = []

    @Option(name: .customLong("doh-url"), help: ArgumentHelp("Look names up over HTTPS there.", valueName: "url"))
    var dnsOverHTTPS: String?

    @Option(help: ArgumentHelp("Connect to a Unix socket instead.", valueName: "path")) var unixSocket: String?

    @Option(help: ArgumentHelp("The same, in the abstract namespace.", valueName: "name"))
    var abstractUnixSocket: String?

    @Option(help: ArgumentHelp("The interface or address to connect from.", valueName: "name")) var interface: String?

    @Option(
        help: ArgumentHelp("The local port, or a range of them, '4000-4010'.", valueName: "ports"),
        transform: Self.ports)
    var localPort: ClosedRange<Int>?

    @Option(help: ArgumentHelp("TCP keep-alive after so long without data.", valueName: "seconds"))
    var keepaliveTime: Int?

    @Option(
        help: ArgumentHelp(
            "The most bytes a second in each direction, with k, M or G for powers of 1024.", valueName: "rate"),
        transform: Self.bytes)
    var limitRate: Int?

    @Option(help: ArgumentHelp("Fail below so many bytes a second, for --speed-time seconds.", valueName: "rate"))
    var speedLimit: Int?

    @Option(help: ArgumentHelp("How long. (default: 30)", valueName: "seconds")) var speedTime: Int?

    @Option(help: ArgumentHelp("How many TCP keep-alive probes may be lost.", valueName: "number"))
    var keepaliveCnt: Int?

    @Option(
        help: ArgumentHelp(
            "The time before IPv4 is tried besides IPv6. (default: 200)", valueName: "milliseconds"))
    var happyEyeballsTimeoutMs: Int?

    @Option(help: ArgumentHelp("The groups of the TLS key exchange, 'X25519:P-256'.", valueName: "list"))
    var curves: String?

    @Option(help: ArgumentHelp("The TLS signature algorithms, 'ed25519:RSA-PSS+SHA256'.", valueName: "list"))
    var sigalgs: String?

    /// `--http1.1` and its like.
    enum HTTPFlag: EnumerableFlag {
        case http1_0, http1_1, http2, http2PriorKnowledge, http3

        static func name(for value: HTTPFlag) -> NameSpecification {
            switch value {
            case .http1_0: [.customShort("0"), .customLong("http1.0")]
            case .http1_1: .customLong("http1.1")
            case .http2: .customLong("http2")
            case .http2PriorKnowledge: .customLong("http2-prior-knowledge")
            case .http3: .customLong("http3")
            }
        }

        var version: TransportOptions.HTTPVersion {
            switch self {
            case .http1_0: .http1_0
            case .http1_1: .http1_1
            case .http2: .http2
            case .http2PriorKnowledge: .http2PriorKnowledge
            case .http3: .http3
            }
        }
    }

    /// `--ipv4` and `--ipv6`.
    enum IPFlag: EnumerableFlag {
        case v4, v6

        static func name(for value: IPFlag) -> NameSpecification {
            switch value {
            case .v4: [.customShort("4"), .customLong("ipv4")]
            case .v6: [.customShort("6"), .customLong("ipv6")]
            }
        }
    }

    /// An entry of `--resolve`.
    struct Resolve {
        let entry: TransportOptions.Names.StaticAddresses

        init(_ text: String) throws {
            var words = HostWords(text)
            guard let host = try words.host(), let port = try words.port(), !words.isAtEnd else {
                throw ValidationError("write it as 'host:port:address'")
            }
            let addresses = words.rest.split(separator: ",").map { $0.trimmingBrackets }
            entry = .init(host, port: port, addresses)
        }
    }

    /// A rule of `--connect-to`.
    struct ConnectTo {
        let rule: TransportOptions.Names.ConnectTo

        init(_ text: String) throws {
            var words = HostWords(text)
            let (host, port, toHost, toPort) = (
                try words.host(), try words.port(), try words.host(), try words.port()
            )
            guard words.colons == 3 else { throw ValidationError("write it as 'host:port:host:port'") }
            rule = .init(host, port: port, toHost: toHost, toPort: toPort)
        }
    }

    private static func ports(_ text: String) throws -> ClosedRange<Int> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
            throw ValidationError("it takes a port, or two with a '-' between")
        }
        return first...last
    }

    private static func bytes(_ text: String) throws -> Int {
        let units: [Character: Int] = ["k": 10, "m": 20, "g": 30, "b": 0]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        let (bytes, overflows) =
            Int(unit == nil ? text : String(text.dropLast()))?.multipliedReportingOverflow(by: 1 << (unit ?? 0))
            ?? (0, true)
        guard !overflows else { throw ValidationError("it takes bytes a second, '200k' for example") }
        return bytes
    }

    func validate() throws {
        _ = try OptionChecks.timeout(connectTimeout, "--connect-timeout")
        if unixSocket != nil, abstractUnixSocket != nil {
            throw ValidationError("--unix-socket and --abstract-unix-socket exclude one another")
        }
        if speedTime != nil, speedLimit == nil {
            throw ValidationError("--speed-time has no meaning without --speed-limit")
        }
    }

    func apply(to options: inout TransportOptions) throws {
        if let connectTimeout {
            options.connectTimeout = try OptionChecks.timeout(connectTimeout, "--connect-timeout")
        }
        if let http { options.httpVersion = http.version }
        switch ipVersion {
        case nil: break
        case .v4: options.connection.ipVersion = .v4
        case .v6: options.connection.ipVersion = .v6
        }
        if !resolve.isEmpty { options.names.addresses = resolve.map(\.entry) }
        if !connectTo.isEmpty { options.names.connectTo = connectTo.map(\.rule) }
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
        if let keepaliveCnt {
            var keepAlive = options.connection.keepAlive ?? TransportOptions.Connection.KeepAlive()
            keepAlive.probes = keepaliveCnt
            options.connection.keepAlive = keepAlive
        }
        if let limitRate {
            (options.rate.maximumReceivedPerSecond, options.rate.maximumSentPerSecond) = (limitRate, limitRate)
        }
        if let speedLimit {
            options.rate.lowSpeed = .init(bytesPerSecond: speedLimit, for: .seconds(speedTime ?? 30))
        }
        if let happyEyeballsTimeoutMs {
            options.connection.happyEyeballsDelay = .milliseconds(happyEyeballsTimeoutMs)
        }
        if let curves { options.tls.groups = curves }
        if let sigalgs { options.tls.signatureAlgorithms = sigalgs }
    }
}

/// The words of `host:port:…`, of which an IPv6 address stands in brackets.
private struct HostWords {
    private(set) var rest: Substring
    private(set) var isAtEnd = false
    /// How many colons were read.
    private(set) var colons = 0

    init(_ text: String) { rest = text[...] }

    /// The next host without its brackets; `nil` where it is left out.
    mutating func host() throws -> String? {
        let word: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw ValidationError("a '[' has no ']'") }
            word = rest[...end]
            rest = rest[rest.index(after: end)...]
            passColon()
        } else {
            word = next()
        }
        return word.isEmpty ? nil : String(word)
    }

    /// The next port; `nil` where it is left out.
    mutating func port() throws -> Int? {
        let word = next()
        guard !word.isEmpty else { return nil }
        guard let port = Int(word) else { throw ValidationError("'\(word)' is no port") }
        return port
    }

    private mutating func next() -> Substring {
        let word = rest.prefix { $0 != ":" }
        rest = rest[word.endIndex...]
        passColon()
        return word
    }

    private mutating func passColon() {
        if rest.first == ":" {
            rest = rest.dropFirst()
            colons += 1
        } else {
            isAtEnd = true
        }
    }
}

extension Substring {
    /// The text without brackets around it.
    fileprivate var trimmingBrackets: String {
        first == "[" && last == "]" ? String(dropFirst().dropLast()) : String(self)
    }
}
