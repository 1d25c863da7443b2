extension CurlCommand {
    /// The options as words of curl's command line; none for options at their defaults.
    var optionArguments: [String] {
        let options = request.options
        var words: [String] = []
        switch options.httpVersion {
        case .automatic: break
        case .http1_0: words.append("--http1.0")
        case .http1_1: words.append("--http1.1")
        case .http2: words.append("--http2")
        case .http2PriorKnowledge: words.append("--http2-prior-knowledge")
        case .http3: words.append("--http3")
        }
        if let timeout = options.connectTimeout, timeout != TransportOptions().connectTimeout {
            words += ["--connect-timeout", Self.seconds(timeout)]
        }
        if let timeout = options.totalTimeout { words += ["--max-time", Self.seconds(timeout)] }
        guard options.hasRareOptions else { return words }
        return words + authentication(options) + tls(options.tls) + proxy(options.proxy)
            + connection(options.connection) + names(options.names) + rate(options.rate)
            + options.declared.sorted { $0.key < $1.key }.flatMap { $0.value.curlArguments.map(plain) }
    }

    /// Returns seconds with three decimals, from a millisecond, since 0 means no limit to curl(1), to a year: a timeout
    /// may be the result of any subtraction.
    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = clamped(duration, from: .milliseconds(1)).components
        return "\(seconds).\(String("00\(attoseconds / 1_000_000_000_000_000)".suffix(3)))"
    }

    private static func wholeSeconds(_ duration: Duration) -> String {
        "\(clamped(duration, from: .seconds(1)).components.seconds)"
    }

    private static func clamped(_ duration: Duration, from least: Duration) -> Duration {
        max(least, min(duration, TransportOptions.maximumTimeout))
    }

    /// Returns the options of the schemes other than Basic and Bearer, which are header fields.
    private func authentication(_ options: TransportOptions) -> [String] {
        switch options.authentication {
        case nil, .basic, .bearer: []
        case .digest(let user, let password): ["--digest", "--user", credentials(user, password.value)]
        // Not --anyauth, which sends Basic in the clear, and NTLM.
        case .anySafe(let user, let password):
            (request.url.scheme == "https" ? ["--basic", "--digest"] : ["--digest"])
                + ["--user", credentials(user, password.value)]
        case .awsSigV4(let signature):
            [
                "--aws-sigv4",
                plain("\(signature)"),
                "--user", credentials(signature.keyID, signature.secretKey.value),
            ]
        }
    }

    private func tls(_ tls: TransportOptions.TLS) -> [String] {
        guard tls != TransportOptions.TLS() else { return [] }
        var words = ["--tlsv" + Self.version(tls.minimumVersion)]
        if let version = tls.maximumVersion { words += ["--tls-max", Self.version(version)] }
        switch tls.authorities {
        case .system, .bytes: break
        case .file(let path): words += ["--cacert", plain(path)]
        case .directory(let path): words += ["--capath", plain(path)]
        }
        if case .file(let path)? = tls.clientCertificate?.certificate {
            // A colon would begin the password. By scalars: a mark that combines with it would hide it.
            let escaped = path.unicodeScalars.map { $0 == "\\" || $0 == ":" ? "\\\($0)" : "\($0)" }.joined()
            words += ["--cert", plain(escaped)]
        }
        if case .file(let path)?? = tls.clientCertificate.map(\.key) { words += ["--key", plain(path)] }
        if let password = tls.clientCertificate?.password { words += ["--pass", secret(password.value)] }
        let pins = tls.pinnedPublicKeys.joined(separator: ";")
        if !pins.isEmpty { words += ["--pinnedpubkey", plain(pins)] }
        if let ciphers = tls.ciphers { words += ["--ciphers", plain(ciphers)] }
        if let suites = tls.cipherSuites { words += ["--tls13-ciphers", plain(suites)] }
        return words
    }

    private static func version(_ version: TransportOptions.TLS.Version) -> String {
        switch version {
        case .tls1_0: "1.0"
        case .tls1_1: "1.1"
        case .tls1_2: "1.2"
        case .tls1_3: "1.3"
        }
    }

    private func proxy(_ options: TransportOptions.Proxy) -> [String] {
        switch options.choice {
        case .environment: return request.options.bypassesEnvironmentsProxy ? ["--noproxy", "*"] : []
        case .none: return ["--noproxy", "*"]
        case .explicit(let proxy):
            var words = ["--proxy", isRevealed ? proxy.url : redaction.url(proxy.url)]
            // curl's own list depends on its version.
            let exceptions = proxy.isPassed(by: request.url) ? "*" : proxy.noProxy.joined(separator: ",")
            words += ["--noproxy", plain(exceptions)]
            if let user = proxy.user { words += ["--proxy-user", credentials(user, proxy.password?.value ?? "")] }
            // Not --proxy-anyauth, which sends Basic in the clear, and NTLM. In a tunnel, as the transport sends it.
            if proxy.authenticationScheme != .basic { words.append("--proxy-digest") }
            if proxy.tunnel || proxy.authenticationScheme != .basic { words.append("--proxytunnel") }
            for field in proxy.headerFields {
                let value = field.value.isEmpty ? ";" : ": \(secret(field.value))"
                words += ["--proxy-header", field.name.rawName + value]
            }
            switch proxy.authorities {
            case .system, .bytes: break
            case .file(let path): words += ["--proxy-cacert", plain(path)]
            case .directory(let path): words += ["--proxy-capath", plain(path)]
            }
            return words
        }
    }

    private func connection(_ connection: TransportOptions.Connection) -> [String] {
        var words: [String] = []
        switch connection.ipVersion {
        case .any: break
        case .v4: words.append("--ipv4")
        case .v6: words.append("--ipv6")
        }
        switch connection.unixSocket {
        case nil: break
        case .path(let path): words += ["--unix-socket", plain(path)]
        case .abstract(let name): words += ["--abstract-unix-socket", plain(name)]
        }
        if let interface = connection.interface { words += ["--interface", plain(interface)] }
        if let ports = connection.localPorts { words += ["--local-port", "\(ports.lowerBound)-\(ports.upperBound)"] }
        if let keepAlive = connection.keepAlive {
            words += ["--keepalive-time", Self.wholeSeconds(keepAlive.idle)]
        }
        return words
    }

    /// Returns a host with an IPv6 address in brackets.
    private static func bracketed(_ host: String) -> String {
        host.contains(byte: UInt8(ascii: ":")) && !host.hasBytePrefix("[") ? "[\(host)]" : host
    }

    private func names(_ names: TransportOptions.Names) -> [String] {
        var words: [String] = []
        for entry in names.addresses {
            words += ["--resolve", plain("\(entry.host):\(entry.port):\(entry.addresses.joined(separator: ","))")]
        }
        for rule in names.connectTo {
            let parts = [
                rule.host.map(Self.bracketed), rule.port.map { "\($0)" }, rule.toHost.map(Self.bracketed),
                rule.toPort.map { "\($0)" },
            ]
            words += ["--connect-to", plain(parts.map { $0 ?? "" }.joined(separator: ":"))]
        }
        if let url = names.dnsOverHTTPS { words += ["--doh-url", isRevealed ? url : redaction.origin(of: url)] }
        return words
    }

    private func rate(_ rate: TransportOptions.Rate) -> [String] {
        var words: [String] = []
        // curl has one option for both directions, and the lower limit holds for each.
        if let limit = [rate.maximumReceivedPerSecond, rate.maximumSentPerSecond].compactMap({ $0 }).min() {
            words += ["--limit-rate", "\(limit)"]
        }
        if let lowSpeed = rate.lowSpeed {
            words += ["--speed-limit", "\(lowSpeed.bytesPerSecond)"]
            words += ["--speed-time", Self.wholeSeconds(lowSpeed.duration)]
        }
        return words
    }
}
