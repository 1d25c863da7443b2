import Foundation
import NetworkLayer
import Testing

/// The real servers to test against, by the variables that `scripts/test` sets.
enum Peers {
    static let nginxVariable = "NETWORKLAYER_NGINX_URL"
    static let httpbinVariable = "NETWORKLAYER_HTTPBIN_URL"

    static let nginx = ProcessInfo.processInfo.environment[nginxVariable]
    static let httpbin = ProcessInfo.processInfo.environment[httpbinVariable]

    /// Why a suite does not run.
    static func absence(of variable: String) -> Comment {
        "\(variable) is not set: scripts/test starts the server and sets it"
    }

    /// The pipeline over a transport, with a bound on every wait.
    static func client(over kind: TransportKind) -> NetworkClient {
        var options = TransportOptions()
        options.totalTimeout = .seconds(60)
        return NetworkClient(transport: kind.transport, options: options)
    }
}

extension HTTPField.Name {
    static let connectionRequests = Self("X-Connection-Requests")!
}
