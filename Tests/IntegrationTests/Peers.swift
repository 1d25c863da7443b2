import Foundation
import NetworkLayer
import Testing

/// The real servers to test against, named by the variables that `scripts/test` sets.
enum Peers {
    static let nginxVariable = "NETWORKLAYER_NGINX_URL"
    static let httpbinVariable = "NETWORKLAYER_HTTPBIN_URL"

    static let nginx = ProcessInfo.processInfo.environment[nginxVariable]
    static let httpbin = ProcessInfo.processInfo.environment[httpbinVariable]

    /// The first of nginx's TLS ports.
    static let tlsVariable = "NETWORKLAYER_TLS_PORT"
    static let tlsPort = ProcessInfo.processInfo.environment[tlsVariable].flatMap { Int($0) }
    static let tlsFolder = ProcessInfo.processInfo.environment["NETWORKLAYER_TLS_FOLDER"] ?? "."

    /// A variant of the TLS server, as `scripts/peers/tls` numbers them.
    enum TLS: Int {
        case good, expired, elsewhere, selfSigned, stray, old, clientCertificate, http2, http2Short, optionalCertificate
    }

    static func url(_ server: TLS, _ path: String = "/whoami", host: String = "localhost") throws -> RequestURL {
        try RequestURL("https://\(host):\(try #require(tlsPort) + server.rawValue)\(path)")
    }

    /// Returns a file that the peer wrote into its folder.
    static func tlsFile(_ name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: tlsFolder).appending(path: name))
    }

    /// Returns a proxy's URL.
    static func proxy(_ kind: String) -> String? {
        ProcessInfo.processInfo.environment["NETWORKLAYER_PROXY_\(kind)"]
    }

    /// A real HTTP/2 server, in clear text and over TLS.
    static let nghttpdVariable = "NETWORKLAYER_NGHTTPD_URL"
    static let nghttpd = ProcessInfo.processInfo.environment[nghttpdVariable]
    static let nghttpdTLSVariable = "NETWORKLAYER_NGHTTPD_TLS_URL"
    static let nghttpdTLS = ProcessInfo.processInfo.environment[nghttpdTLSVariable]
    /// The HTTP/2 server that ends streams and connections prematurely; see `scripts/peers/http2.py`.
    static let http2Variable = "NETWORKLAYER_HTTP2_URL"
    static let http2 = ProcessInfo.processInfo.environment[http2Variable]

    static var curlSpeaksHTTP2: Bool { CurlNetworkDispatcher.shared.capabilities.supports(.http2) }

    /// Returns the reason why a suite does not run.
    static func absence(of variable: String) -> Comment {
        "\(variable) is not set: scripts/test starts the server and sets it"
    }

    /// Returns a client over the transport, with a total timeout of 60 seconds.
    static func client(over kind: TransportKind) -> NetworkClient {
        var options = TransportOptions()
        options.totalTimeout = .seconds(60)
        return NetworkClient(transport: kind.transport, options: options)
    }
}

extension Trait where Self == ConditionTrait {
    /// Enabled if the curl transport speaks HTTP/2, which it does not with a libcurl that mixes up HTTP/2 bodies.
    static var curlSpeaksHTTP2: Self {
        .enabled(if: Peers.curlSpeaksHTTP2, "the curl transport speaks no HTTP/2 here: that needs libcurl 8.1")
    }
}

extension HTTPField.Name {
    static let connectionRequests = Self("X-Connection-Requests")!
}
