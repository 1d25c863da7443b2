import NetworkCore

/// Where connections go: transfers with equal origins may share one.
struct Origin: Hashable, Sendable {
    let isSecure: Bool
    let host: String
    let port: Int

    init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    init(_ url: RequestURL) { self.init(isSecure: url.scheme == "https", host: url.host, port: url.effectivePort) }
}
