import Foundation
import NetworkCore
import NetworkLayer

extension NetworkSettings {
    /// One thing that applies to a request, and why.
    public struct Fact: Sendable, Hashable {
        /// What it is about, such as `proxy`.
        public let subject: String
        /// What applies.
        public let value: String
        /// What has decided; empty if there is nothing to say.
        public let reason: String
    }

    /// Returns what applies to a request to a URL, and why: transport, library, version of HTTP, proxy, authorities,
    /// and what would be refused. Nothing is sent, and no fact has a secret. The values of the keys are ``entries``.
    /// - Parameter url: The URL. Default: ``baseURL``, or else `https://localhost/`.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidURL``.
    public func explanation(of url: String? = nil) throws -> [Fact] {
        let url = try RequestURL(url ?? baseURL ?? "https://localhost/")
        let (kind, named) = (try kind, transportReason.split(separator: ":", maxSplits: 1))
        let capabilities = kind.transport.capabilities
        var facts = [
            Fact(subject: "URL", value: "\(url)", reason: ""),
            Fact(
                subject: "transport",
                value: isRollout ? "a shadow or canary; what follows is of \(kind.rawValue)" : String(named[0]),
                reason: named.dropFirst().first?.trimmingCharacters(in: .whitespaces) ?? ""),
            Fact(subject: "library", value: capabilities.basis, reason: "found at run time"),
            version(of: url, capabilities), proxy(for: url),
        ]
        if url.scheme == "https" { facts += [http3(capabilities), authorities(capabilities)] }
        var request = TransportRequest(url: url)
        request.options = options
        do { try request.check(for: capabilities) } catch {
            facts.append(Fact(subject: "refused", value: (error as? NetworkError)?.message ?? "\(error)", reason: ""))
        }
        for fact in capabilities.facts where fact.name == "known faults" {
            facts.append(Fact(subject: fact.name, value: fact.value, reason: "of this library, and worked around"))
        }
        return facts
    }

    private func version(of url: RequestURL, _ capabilities: TransportCapabilities) -> Fact {
        func fact(_ value: String, _ reason: String) -> Fact { Fact(subject: "HTTP", value: value, reason: reason) }
        let (isSecure, two) = (url.scheme == "https", "2, or 1.1 where the server has no other")
        switch options.httpVersion {
        case .http3Only where !isSecure || mayBeProxied:
            return fact("refused", "3-only needs https, and no proxy that may be used")
        case .http1_0, .http1_1, .http2PriorKnowledge, .http3Only:
            return fact(options.httpVersion.rawValue, "httpVersion")
        case _ where !isSecure: return fact("1.1", "the URL is in the clear")
        case .http2: return fact(two, "httpVersion")
        case .http3 where mayBeProxied: return fact(two, "httpVersion is 3, but a proxy may be used")
        case .http3: return fact("3, 2 or 1.1, as the server responds", "httpVersion")
        default: break
        }
        switch capabilities.facts.first(where: { $0.name == "HTTP/2 by default" })?.value {
        case "yes": return fact(two, "no fault of this library against HTTP/2")
        case let reason?: return fact("1.1", reason.hasPrefix("no: ") ? String(reason.dropFirst(4)) : reason)
        case nil: return fact("as the transport chooses", "")
        }
    }

    private func http3(_ capabilities: TransportCapabilities) -> Fact {
        func fact(_ value: String, _ reason: String) -> Fact { Fact(subject: "HTTP/3", value: value, reason: reason) }
        guard capabilities.supports(.http3) else { return fact("no", capabilities.reasons[.http3] ?? "") }
        let isUnasked = curl.upgradesToHTTP3 && options.httpVersion == .automatic && !mayBeProxied
        return isUnasked
            ? fact("where the server announces it", "curl.upgradesToHTTP3, from libcurl 8.23 on")
            : fact("where httpVersion asks for it", "")
    }

    /// Whether the transport keeps to TCP: any variable counts, whatever the URL.
    private var mayBeProxied: Bool {
        switch options.proxy {
        case .none: false
        case .explicit: true
        default: variable(["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) != nil
        }
    }

    private func authorities(_ capabilities: TransportCapabilities) -> Fact {
        func fact(_ value: String, _ why: String) -> Fact { Fact(subject: "authorities", value: value, reason: why) }
        if let key = entries.first(where: { $0.key.hasPrefix("tls.authorities") && !$0.isDefault })?.key {
            return fact("\(options.tls.authorities)", key)
        }
        guard options.tls.authorities == .system,
            let own = capabilities.facts.first(where: { $0.name == "authorities" })?.value
        else { return fact("\(options.tls.authorities)", "") }
        // curl's tool reads the first; OpenSSL reads the others only where nobody names authorities, as libcurl does.
        let names = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"]
        let ignored = own.contains("/") ? names.filter { environment[$0] != nil } : []
        let remark = ignored.isEmpty ? "" : "; without effect: \(ignored.joined(separator: ", "))"
        return fact(own, "the library's own\(remark)")
    }

    private func proxy(for url: RequestURL) -> Fact {
        func fact(_ value: String, _ reason: String) -> Fact { Fact(subject: "proxy", value: value, reason: reason) }
        switch options.proxy {
        case .none: return fact("none", "proxy.url")
        case .explicit(let server) where server.isPassed(by: url):
            return fact("none", "proxy.exceptions has the host")
        case .explicit(let server): return fact(Redaction().url(server.url), "proxy.url")
        case .environment: break
        @unknown default: return fact("as the options say", "")
        }
        // Those that libcurl reads for the scheme, in its order.
        let names =
            (url.scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        guard let (name, value) = variable(names) else { return fact("none", "\(names[0]) is not set") }
        if let (exceptions, list) = variable(["no_proxy", "NO_PROXY"]), ProxyExceptions(list).contains(url.host) {
            return fact("none", "\(exceptions) excepts the host from \(name)")
        }
        // As the transport does: that proxy would choose the address.
        if options.bypassesEnvironmentsProxy { return fact("none", "addressPolicy goes past \(name)") }
        return fact(Redaction().url(value), name)
    }

    private func variable(_ names: [String]) -> (name: String, value: String)? {
        for name in names { if let value = environment[name], !value.isEmpty { return (name, value) } }
        return nil
    }
}
