extension CurlCommand {
    var optionArguments: [String] {
        let options = request.options
        var words: [String] = []
        switch options.httpVersion {
        case .automatic: break
        case .http2PriorKnowledge: words.append("--http2-prior-knowledge")
        default: words.append("--http" + options.httpVersion.rawValue)
        }
        if let timeout = options.connectTimeout, timeout != TransportOptions().connectTimeout {
            words += ["--connect-timeout", Self.seconds(timeout)]
        }
        words += option("--max-time", options.totalTimeout.map(Self.seconds))
        guard options.hasRareOptions else { return words }
        words += option("--expect100-timeout", options.expectContinue.map(Self.seconds))
        return words + authentication(options) + tls(options.tls) + proxy(options.proxy)
            + connection(options.connection) + names(options.names) + rate(options.rate)
    }

    private func option(_ name: String, _ value: String?) -> [String] { value.map { [name, plain($0)] } ?? [] }

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
            option("--aws-sigv4", "\(signature)") + ["--user", credentials(signature.keyID, signature.secretKey.value)]
        }
    }

    private func tls(_ tls: TransportOptions.TLS) -> [String] {
        guard tls != TransportOptions.TLS() else { return [] }
        let (certificate, key) = (tls.clientCertificate?.certificate.path, tls.clientCertificate?.key?.path)
        // A colon would begin the password. By scalars: a mark that combines with it would hide it.
        let escaped = certificate?.unicodeScalars.map { $0 == "\\" || $0 == ":" ? "\\\($0)" : "\($0)" }.joined()
        let password = tls.clientCertificate?.password.map { secret($0.value) }
        let pins = tls.pinnedPublicKeys.joined(separator: ";")
        return ["--tlsv" + Self.version(tls.minimumVersion)] + option("--tls-max", tls.maximumVersion.map(Self.version))
            + authorities(tls.authorities, "--cacert", "--capath") + option("--cert", escaped) + option("--key", key)
            + option("--pass", password) + option("--pinnedpubkey", pins.isEmpty ? nil : pins)
            + option("--ciphers", tls.ciphers) + option("--tls13-ciphers", tls.cipherSuites)
            + option("--curves", tls.groups) + option("--sigalgs", tls.signatureAlgorithms)
    }

    private func authorities(
        _ authorities: TransportOptions.TLS.Authorities, _ file: String, _ directory: String
    ) -> [String] {
        switch authorities {
        case .system, .bytes: []
        case .file(let path): option(file, path)
        case .directory(let path): option(directory, path)
        }
    }

    private static func version(_ version: TransportOptions.TLS.Version) -> String { "1.\(version.rawValue)" }

    private func proxy(_ options: TransportOptions.Proxy) -> [String] {
        switch options {
        case .environment: return request.options.bypassesEnvironmentsProxy ? ["--noproxy", "*"] : []
        case .none: return ["--noproxy", "*"]
        case .explicit(let proxy):
            var words = ["--proxy", isRevealed ? proxy.url : redaction.url(proxy.url)]
            // curl's own list depends on its version.
            words += option("--noproxy", proxy.isPassed(by: request.url) ? "*" : proxy.noProxy.joined(separator: ","))
            if let user = proxy.user { words += ["--proxy-user", credentials(user, proxy.password?.value ?? "")] }
            // Not --proxy-anyauth, which sends Basic in the clear, and NTLM. In a tunnel, as the transport sends it.
            if proxy.authenticationScheme != .basic { words.append("--proxy-digest") }
            if proxy.tunnel || proxy.authenticationScheme != .basic { words.append("--proxytunnel") }
            for field in proxy.headerFields {
                let value = field.value.isEmpty ? ";" : ": \(secret(field.value))"
                words += ["--proxy-header", field.name.rawName + value]
            }
            return words + authorities(proxy.authorities, "--proxy-cacert", "--proxy-capath")
        }
    }

    private func connection(_ connection: TransportOptions.Connection) -> [String] {
        let family: [TransportOptions.Connection.IPVersion: String] = [.v4: "--ipv4", .v6: "--ipv6"]
        var words = [family[connection.ipVersion]].compactMap(\.self)
        switch connection.unixSocket {
        case nil: break
        case .path(let path): words += option("--unix-socket", path)
        case .abstract(let name): words += option("--abstract-unix-socket", name)
        }
        return words + option("--interface", connection.interface)
            + option("--local-port", connection.localPorts.map { "\($0.lowerBound)-\($0.upperBound)" })
            + option("--keepalive-time", connection.keepAlive.map { Self.wholeSeconds($0.idle) })
            + option("--keepalive-cnt", connection.keepAlive?.probes.map(String.init))
            + option(
                "--happy-eyeballs-timeout-ms", connection.happyEyeballsDelay.map { "\($0.roundedUpMilliseconds)" })
    }

    private func names(_ names: TransportOptions.Names) -> [String] {
        func bracketed(_ host: String) -> String {
            host.contains(byte: UInt8(ascii: ":")) && !host.hasBytePrefix("[") ? "[\(host)]" : host
        }
        let addresses = names.addresses.flatMap { entry in
            option("--resolve", "\(entry.host):\(entry.port):\(entry.addresses.joined(separator: ","))")
        }
        let rules = names.connectTo.flatMap { rule in
            let parts = [
                rule.host.map(bracketed), rule.port.map { "\($0)" }, rule.toHost.map(bracketed),
                rule.toPort.map { "\($0)" },
            ]
            return option("--connect-to", parts.map { $0 ?? "" }.joined(separator: ":"))
        }
        let server = names.dnsOverHTTPS.map { isRevealed ? $0 : redaction.origin(of: $0) }
        return addresses + rules + option("--doh-url", server)
    }

    private func rate(_ rate: TransportOptions.Rate) -> [String] {
        // curl has one option for both directions, and the lower limit holds for each.
        let limit = [rate.maximumReceivedPerSecond, rate.maximumSentPerSecond].compactMap(\.self).min()
        return option("--limit-rate", limit.map { "\($0)" })
            + option("--speed-limit", rate.lowSpeed.map { "\($0.bytesPerSecond)" })
            + option("--speed-time", rate.lowSpeed.map { Self.wholeSeconds($0.duration) })
    }
}

extension TransportOptions.TLS.Source {
    fileprivate var path: String? {
        guard case .file(let path) = self else { return nil }
        return path
    }
}
