import NetworkCore

/// What decides, besides the origin, whether one connection may serve two requests. Requests with equal keys share a
/// ``Pool``: its connections, addresses and TLS sessions. Requests with different keys share nothing.
///
/// libcurl compares some of these options itself, but not all of them, and not in all versions, byte by byte: the key
/// of a client certificate, the credentials of a tunnel, the interface, the case of a path.
struct ConnectionKey: Hashable, Sendable {
    /// The version of HTTP that goes out: never `automatic`. Where it is HTTP/2, HTTP/1.1 may be negotiated instead;
    /// requests that ask for HTTP/1.1 have connections of their own.
    let version: TransportOptions.HTTPVersion
    private let options: TransportOptions
    /// The bytes of the texts that are not ASCII, each after its place: Swift takes equivalent Unicode texts for equal,
    /// and they are other paths and passwords.
    private let spellings: [[UInt8]]

    init(_ options: TransportOptions, isSecure: Bool, support: LibcurlSupport = Libcurl.found) {
        version = options.resolvedVersion(isSecure: isSecure, support: support)
        self.options = options.ofConnection
        spellings = options.hasRareOptions ? Self.spellings(in: options) : []
    }

    /// Whether names are looked up over HTTPS, over connections that libcurl makes for itself.
    var looksUpOverHTTPS: Bool { options.hasRareOptions && options.names.dnsOverHTTPS != nil }

    /// The time for which libcurl may use an address that it has looked up, in seconds; -1 for any time, where the
    /// addresses are pinned.
    var nameCacheSeconds: Int { options.names.addresses.isEmpty ? options.names.cacheTime.wholeSeconds : -1 }

    private static func spellings(in options: TransportOptions) -> [[UInt8]] {
        let (tls, connection) = (options.tls, options.connection)
        var texts = [text(tls.authorities), text(tls.clientCertificate?.certificate), text(tls.clientCertificate?.key)]
        texts.append(tls.clientCertificate?.password?.value)
        switch connection.unixSocket {
        case nil: texts.append(nil)
        case .path(let text), .abstract(let text): texts.append(text)
        }
        if case .explicit(let proxy) = options.proxy {
            texts += [proxy.user, proxy.password?.value, text(proxy.authorities)]
            for field in proxy.headerFields { texts += [field.name.rawName, field.value] }
        }
        return texts.enumerated().compactMap { place, text in
            guard let text, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            return "\(place):".utf8 + Array(text.utf8)
        }
    }

    private static func text(_ authorities: TransportOptions.TLS.Authorities) -> String? {
        switch authorities {
        case .system, .bytes: nil
        case .file(let path), .directory(let path): path
        }
    }

    private static func text(_ source: TransportOptions.TLS.Source?) -> String? {
        if case .file(let path) = source { path } else { nil }
    }
}

extension TransportOptions {
    /// The version of HTTP that a request goes out with. Without TLS nothing is negotiated, and a connection of one
    /// request can't be one of HTTP/2, whose other streams would be those of others.
    func resolvedVersion(isSecure: Bool, support: LibcurlSupport) -> HTTPVersion {
        let isRare = hasRareOptions
        // A limit would stop the other streams of its connection.
        let isAlone =
            isRare
            && (connection.forbidsReuse
                || rate.maximumReceivedPerSecond != nil && support.suffers(from: .http2ReceivingLimitFails))
        switch httpVersion {
        case .http1_0, .http1_1, .http2PriorKnowledge, .http3Only: return httpVersion
        case .http2: return isSecure && !isAlone ? .http2 : .http1_1
        // Through a proxy, libcurl 8.23 would ask it for a tunnel of UDP first (RFC 9298).
        case .http3: return isSecure ? (ProxyOption.mayTunnel(self) ? .http2 : .http3) : .http1_1
        case .automatic: return isAlone || support.speaksHTTP1(.automatic, isSecure: isSecure) ? .http1_1 : .http2
        }
    }
}
