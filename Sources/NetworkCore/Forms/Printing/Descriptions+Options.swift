// Descriptions of options with credentials show the kind, never the names and the keys.

extension TransportOptions.Secret: SafelyPrinted {
    /// The text `<secret>`.
    public var description: String { "<secret>" }
}

extension TransportOptions.Authentication: SafelyPrinted {
    /// The name of the scheme.
    public var description: String {
        switch self {
        case .basic: "basic"
        case .bearer: "bearer"
        case .digest: "digest"
        case .anySafe: "anySafe"
        case .awsSigV4(let signature): "awsSigV4 (\(signature))"
        }
    }
}

extension TransportOptions.Authentication.AWSSignature: SafelyPrinted {
    /// The provider, region and service.
    public var description: String {
        [provider, region, service].compactMap { $0.map { Redaction.visible($0) } }.joined(separator: ":")
    }
}

extension TransportOptions.Proxy.Server: SafelyPrinted {
    /// The kind, host and port.
    public var description: String { Redaction().url(url) }
}

extension TransportOptions.Names: SafelyPrinted {
    /// The number of names with addresses of their own, and the host of a server for DNS over HTTPS.
    public var description: String {
        let names = "\(addresses.count) static names, \(connectTo.count) other targets, cached for \(cacheTime)"
        return names + (dnsOverHTTPS.map { ", resolved at \(Redaction().origin(of: $0))" } ?? "")
    }
}

extension TransportOptions.TLS.Authorities: SafelyPrinted {
    /// The path, or the number of bytes.
    public var description: String {
        switch self {
        case .system: "the system's"
        case .file(let path): "file \(Redaction.visible(path))"
        case .directory(let path): "directory \(Redaction.visible(path))"
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }
}

extension TransportOptions.TLS.Source: SafelyPrinted {
    /// The path, or the number of bytes.
    public var description: String {
        switch self {
        case .file(let path): "file \(Redaction.visible(path))"
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }
}

extension ServerSentEvents.Options: SafelyPrinted {
    /// The pauses and limits, and whether there is an id to begin after.
    public var description: String {
        let pauses = "after \(reconnectionTime), \(minimumReconnectionTime) to \(maximumReconnectionTime)"
        let failures = maximumFailures.map { "\($0)" } ?? "any number of"
        return "reconnects \(pauses), \(failures) failures, lines of \(maximumLineBytes) bytes, "
            + "events of \(maximumEventBytes) bytes\(reconnectsAnyMethod ? ", any method" : "")"
            + (lastEventID.isEmpty ? "" : ", begins after an event")
    }
}

extension CookieJar.Cookie: SafelyPrinted {
    /// The name, domain and path.
    public var description: String { Redaction.visible("\(name)=… (\(domain)\(path))") }
}
