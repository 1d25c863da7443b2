import NetworkCore
import Synchronization

/// Whose credentials opened the tunnels through each proxy.
///
/// libcurl below 8.19 hands a kept tunnel to a request that has other credentials for the proxy, or none. So the first
/// credentials for a proxy share its tunnels, and a request with others has one of its own.
final class TunnelOwners: Sendable {
    /// What a proxy decides by. Byte by byte: text that only means the same is another password.
    private struct Credentials: Equatable {
        let texts: [[UInt8]?]

        init(_ proxy: TransportOptions.Proxy.Server) {
            let fields = proxy.headerFields.map { Array("\($0.name.rawName): \($0.value)".utf8) }
            texts = [proxy.user.map { Array($0.utf8) }, proxy.password.map { Array($0.value.utf8) }] + fields
        }
    }

    private let owners = Guarded<[ProxyPlace: Credentials]>([:])
    /// How many proxies are remembered; through one more, no tunnel is shared.
    private static let maximumProxies = 1_024

    /// What a request needs beside its own options.
    func options(for request: TransportRequest, over support: LibcurlSupport) -> [any EasyOption] {
        guard request.options.hasRareOptions, support.suffers(from: .tunnelsIgnoreProxyCredentials),
            case .explicit(let proxy) = request.options.proxy.choice,
            proxy.tunnel || request.url.scheme == "https" || request.goesElsewhere
        else { return [] }
        return isOwner(proxy, environment: Self.variables.compactMap(EnvironmentVariable.value))
            ? [] : [LoneConnectionOption()]
    }

    /// Whether a request may share tunnels through a proxy.
    /// - Parameter environment: The URLs by which the environment names proxies. Requests that go by them share their
    ///   tunnels among themselves and are not asked about here.
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

    /// By which tunnels are opened.
    static let variables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
}

extension TransportRequest {
    /// Whether it may be sent to another place than its URL says, for which libcurl opens a tunnel even in clear.
    fileprivate var goesElsewhere: Bool { !options.names.connectTo.isEmpty || !options.names.addresses.isEmpty }
}
