import NetworkCore

/// The credentials that opened the tunnels through each proxy.
///
/// libcurl reuses a tunnel for a request with other header fields for the proxy, and below 8.19 for one with another
/// user or password, or none. So requests with the first credentials for a proxy share its tunnels, and a request with
/// others opens its own (``ConnectionOwners``).
final class TunnelOwners: Sendable {
    /// The texts that a proxy checks. Compared byte by byte: an equivalent Unicode text is another password.
    private struct Credentials: Equatable {
        let texts: [[UInt8]?]

        init(_ proxy: TransportOptions.Proxy.Server) {
            let fields = proxy.headerFields.map { Array("\($0.name.rawName): \($0.value)".utf8) }
            texts = [proxy.user.map { Array($0.utf8) }, proxy.password.map { Array($0.value.utf8) }] + fields
        }
    }

    private let owners: ConnectionOwners<ProxyPlace, Credentials>

    /// - Parameter now: The time source.
    init(now: @escaping @Sendable () -> SuspendingClock.Instant = { .now }) {
        owners = ConnectionOwners(now: now)
    }

    /// Adds the request's claim to tunnels, or the options with which the request opens its own.
    func add(to sharing: inout ConnectionSharing, for request: TransportRequest) {
        guard request.options.hasRareOptions, case .explicit(let proxy) = request.options.proxy.choice,
            !proxy.isPassedBy(to: request.url, request.options)
        else { return }
        // libcurl responds to the challenge of such a proxy. In a tunnel it does so before the request goes out, and
        // what is left of the challenge stays on a connection that carries no other request.
        guard proxy.authenticationScheme == .basic else {
            return sharing.add(nil, or: LoneConnectionOption(request: request))
        }
        guard proxy.tunnel || request.url.scheme == "https" || request.goesElsewhere
        else { return }
        let environment = EnvironmentProxy.values(isSecure: request.url.scheme == "https")
        sharing.add(claim(for: proxy, environment: environment), or: LoneConnectionOption(request: request))
    }

    /// Returns a request's claim to tunnels through a proxy; `nil` if they belong to other credentials.
    /// - Parameter environment: The URLs by which the environment names proxies for the request's scheme. Requests that
    ///   use these share their tunnels among themselves, and this function does not cover them.
    func claim(for proxy: TransportOptions.Proxy.Server, environment: [String] = []) -> ConnectionClaim? {
        guard let place = ProxyPlace(proxy.url),
            !environment.contains(where: { ProxyPlace($0).map { $0 == place } ?? true })
        else { return nil }
        return owners.claim(place, for: Credentials(proxy))
    }
}

extension TransportRequest {
    /// Whether the request may go to another place than its URL says; libcurl then opens a tunnel even without TLS.
    fileprivate var goesElsewhere: Bool { !options.names.connectTo.isEmpty || !options.names.addresses.isEmpty }
}
