import NetworkCore
import Synchronization

/// Whose credentials opened the tunnels through each proxy.
///
/// libcurl below 8.19 hands a kept tunnel to a request that has other credentials for the proxy, or none. So the first
/// credentials for a proxy share its tunnels, and a request with others has one of its own.
final class TunnelOwners: Sendable {
    private struct Credentials: Hashable {
        let user: String?
        let password: Secret?
    }

    private let owners = Guarded<[String: Credentials]>([:])
    /// How many proxies are remembered; through one more, no tunnel is shared.
    private static let maximumProxies = 1_024

    /// What a request needs beside its own options.
    func options(for request: TransportRequest, over support: LibcurlSupport) -> [any EasyOption] {
        guard request.options.hasRareOptions, support.suffers(from: .tunnelsIgnoreProxyCredentials),
            case .explicit(let proxy) = request.options.proxy.choice, proxy.tunnel || request.url.scheme == "https"
        else { return [] }
        let credentials = Credentials(user: proxy.user, password: proxy.password)
        let isOwner = owners.withLock { owners in
            let key = proxy.url.lowercased()
            if let owner = owners[key] { return owner == credentials }
            guard owners.count < Self.maximumProxies else { return false }
            owners[key] = credentials
            return true
        }
        return isOwner ? [] : [LoneConnectionOption()]
    }
}

/// A connection that nobody else has used or will use.
private struct LoneConnectionOption: EasyOption {
    func apply(to easy: EasyHandle) throws {
        try easy.set(.freshConnect, 1)
        try easy.set(.forbidReuse, 1)
    }
}
