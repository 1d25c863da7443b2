import NetworkCore
import Synchronization

/// The credentials that opened the tunnels through each proxy.
///
/// libcurl below 8.19 reuses a tunnel for a request with other proxy credentials, or none. So requests with the first
/// credentials for a proxy share its tunnels, and a request with others opens its own.
final class TunnelOwners: Sendable {
    /// The texts that a proxy checks. Compared byte by byte: an equivalent Unicode text is another password.
    private struct Credentials: Equatable {
        let texts: [[UInt8]?]

        init(_ proxy: TransportOptions.Proxy.Server) {
            let fields = proxy.headerFields.map { Array("\($0.name.rawName): \($0.value)".utf8) }
            texts = [proxy.user.map { Array($0.utf8) }, proxy.password.map { Array($0.value.utf8) }] + fields
        }
    }

    private let owners = Guarded<[ProxyPlace: Credentials]>([:])
    /// The number of proxies to remember. Tunnels through further proxies are not shared.
    private static let maximumProxies = 1_024

    /// Returns the options that a request needs in addition to its own.
    func options(for request: TransportRequest, over support: LibcurlSupport) -> [any EasyOption] {
        guard request.options.hasRareOptions, support.suffers(from: .tunnelsIgnoreProxyCredentials),
            case .explicit(let proxy) = request.options.proxy.choice,
            proxy.tunnel || request.url.scheme == "https" || request.goesElsewhere
        else { return [] }
        return isOwner(proxy, environment: Self.variables.compactMap(EnvironmentVariable.value))
            ? [] : [LoneConnectionOption()]
    }

    /// Returns whether a request may share tunnels through a proxy.
    /// - Parameter environment: The URLs by which the environment names proxies. Requests that use these share their
    ///   tunnels among themselves, and this function does not cover them.
    func isOwner(_ proxy: TransportOptions.Proxy.Server, environment: [String] = []) -> Bool {
        guard let place = ProxyPlace(proxy.url),
            !environment.contains(where: { ProxyPlace($0).map { $0 == place } ?? true })
        else { return false }
        let credentials = Credentials(proxy)
        return owners.withLock { owners in
            if let owner = owners[place] { return owner == credentials }
            guard owners.count < Self.maximumProxies else { return false }
            owners[place] = credentials
            return true
        }
    }

    /// The environment variables that name proxies for tunnels.
    static let variables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
}

extension TransportRequest {
    /// Whether the request may go to another place than its URL says; libcurl then opens a tunnel even in clear.
    fileprivate var goesElsewhere: Bool { !options.names.connectTo.isEmpty || !options.names.addresses.isEmpty }
}
