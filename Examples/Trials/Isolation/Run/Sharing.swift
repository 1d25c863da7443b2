import NetworkLayer

/// The parts of a request's options that must match for a connection to be shared.
struct Sharing {
    let parts: [(name: String, value: String)]
    let isFresh: Bool
    let forbidsReuse: Bool

    init(_ request: TransportRequest) {
        let options = request.options
        let (connection, names) = (options.connection, options.names)
        func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "none" }
        var proxy = "\(options.proxy)"
        // Through a proxy without a tunnel, the connection is one to the proxy, whatever the host.
        var host = "\(request.url.authority)"
        let tunnels = request.url.scheme == "https" || !names.connectTo.isEmpty
        if case .explicit(let explicit) = options.proxy {
            // A plain proxy's fields and credentials are in each request; a tunnel's and SOCKS's made the connection.
            let made = explicit.tunnel || tunnels || explicit.url.hasPrefix("socks")
            let named = "\(explicit.user ?? "") \(explicit.password?.value ?? "") \(explicit.headerFields)"
            proxy = explicit.noProxy.isEmpty ? "\(explicit.url) \(explicit.tunnel) \(made ? named : "")" : "none"
            if explicit.noProxy.isEmpty, !made { host = "any" }
        }
        let passesBy = request.url.host != "proxied.test" || !names.addresses.isEmpty
        if options.proxy == .environment {
            proxy = passesBy ? "none" : "the environment's"
            if !passesBy, !tunnels { host = "any" }
        }
        if options.proxy == .none { proxy = "none" }
        var parts = [
            ("scheme", request.url.scheme), ("proxy", proxy), ("unixSocket", text(connection.unixSocket)),
            ("interface", text(connection.interface)), ("localPorts", text(connection.localPorts)),
            ("connectTo", text(names.connectTo)), ("host", host),
        ]
        if request.url.scheme == "https" { parts.append(("tls", Self.text(options.tls))) }
        let isPrior = options.httpVersion == .http2PriorKnowledge
        parts.append(("prior knowledge", "\(isPrior)"))
        if case let known = names.addresses.filter({ $0.host == request.url.host }), !known.isEmpty {
            parts.append(("addresses", "\(known)"))
        } else {
            parts.append(("addresses", "looked up"))
        }
        self.parts = parts
        (isFresh, forbidsReuse) = (connection.isFresh, connection.forbidsReuse)
    }

    private static func text(_ tls: TransportOptions.TLS) -> String {
        "\(tls.authorities) \(tls.pinnedPublicKeys) \(tls.minimumVersion) \(tls.maximumVersion.map { "\($0)" } ?? "") "
            + "\(tls.ciphers ?? "") \(tls.cipherSuites ?? "") \(tls.serverName ?? "") "
            + (tls.clientCertificate.map { "\($0.certificate)" } ?? "")
    }

    /// Returns the first part in which two requests differ.
    func difference(from other: Sharing) -> String? {
        for part in parts {
            let value = other.parts.first { $0.name == part.name }?.value ?? "none"
            if part.value != value { return "\(part.name) ('\(part.value)', '\(value)')" }
        }
        return nil
    }
}
