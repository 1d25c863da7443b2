import Foundation

/// The environment variables by which libcurl finds a proxy.
enum ProxyEnvironment {
    /// Whether a proxy may apply to some host. Ignores lists of exceptions.
    static var mayApply: Bool {
        let environment = ProcessInfo.processInfo.environment
        return variables.contains { environment[$0].map { !$0.isEmpty } ?? false }
    }

    private static let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
}
