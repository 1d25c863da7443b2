import Foundation
import HTTPTypes
import NetworkLayer

/// A kind of request: what a caller may send, with one group of options or one form of body at a time.
struct Kind: Sendable {
    typealias Change = @Sendable (_ place: Place, _ request: inout TransportRequest) throws -> Void

    let name: String
    let site: Site
    let method: HTTPRequest.Method
    let change: Change
    /// The location of the kind's change in the source, to be printed in a test.
    let file: String
    let line: Int
    /// The setup of the pipeline, for kinds that go through one.
    let pipeline: (@Sendable (inout NetworkClient) -> Void)?

    init(
        _ name: String, at site: Site = .one, _ method: HTTPRequest.Method = .get, file: String = #filePath,
        line: Int = #line,
        _ change: @escaping Change = { _, _ in }
    ) {
        (self.name, self.site, self.method, self.change) = (name, site, method, change)
        (self.file, self.line, pipeline) = (file, line, nil)
    }

    /// Creates a kind that goes through a pipeline.
    init(
        _ name: String, _ method: HTTPRequest.Method = .get,
        pipeline: @escaping @Sendable (inout NetworkClient) -> Void,
        file: String = #filePath, line: Int = #line, change: @escaping Change = { _, _ in }
    ) {
        (self.name, site, self.method, self.change) = (name, .one, method, change)
        (self.file, self.line, self.pipeline) = (file, line, pipeline)
    }

    /// The destination of a kind's request.
    enum Site: Sendable, Hashable {
        case one
        case two
        case named(String)
        case ipv6
        case proxied
        case secure(String)
    }

    /// Whether a second execution would do harm.
    var isOneTime: Bool { method == .post || method == .patch }
    var isSecure: Bool { if case .secure = site { true } else { false } }

    /// The secrets that belong only to this kind, in every form in which they may appear.
    var secrets: [String] {
        let pair = Data("user-\(name):pw-\(name);".utf8).base64EncodedString()
        let common = name.hasPrefix("environment") ? [Data(Self.environment.utf8).base64EncodedString()] : []
        return common + [
            pair, "user-\(name)\"", "user-\(name):", "pw-\(name);", "key-\(name)/", "token-\(name);",
            "cookie-of-\(name);",
        ]
    }

    /// The credentials of the proxy in the environment.
    static let environment = "user-environment:pw-environment;"

    func request(_ place: Place) throws -> TransportRequest {
        var request = TransportRequest(method: method, url: try place.url(site))
        try change(place, &request)
        return request
    }

    /// All kinds.
    static let all = plain + bodies + authentications + proxies + connections + secure + others
    static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

/// The peer's addresses for one step, and the names of the step.
struct Place: Sendable {
    let kind: String
    let outcome: String
    let step: Int
    let one: Int
    let two: Int
    let proxyPort: Int
    let silent: Int
    let unixPath: String
    let abstractName: String
    let folder: String

    var user: String { "user-\(kind)" }
    var password: TransportOptions.Secret { TransportOptions.Secret("pw-\(kind);") }
    var token: String { "token-\(kind);" }
    var authorities: TransportOptions.TLS.Authorities { .file(folder + "/ca.pem") }

    /// Where requests go by CONNECT, also those with `http` URLs.
    var beyondTunnel: TransportOptions.Names.ConnectTo { .init(toHost: "127.0.0.1", toPort: one) }

    /// - Parameter host: The proxy's host; `localhost` is the environment's proxy.
    func proxy(
        _ scheme: String = "http", host: String = "127.0.0.1", isNamed: Bool = false
    ) -> TransportOptions.Proxy.Server {
        let url = "\(scheme)://\(host):\(proxyPort)"
        return isNamed
            ? TransportOptions.Proxy.Server(url, user: user, password: password) : TransportOptions.Proxy.Server(url)
    }

    func url(_ site: Kind.Site) throws -> RequestURL {
        let base =
            switch site {
            case .one: "http://127.0.0.1:\(one)"
            case .two: "http://127.0.0.1:\(two)"
            case .named(let host): "http://\(host):\(one)"
            case .ipv6: "http://[::1]:\(one)"
            case .proxied: "http://proxied.test:\(one)"
            case .secure(let host): "https://\(host):\(one)"
            }
        return try RequestURL("\(base)/\(outcome)/s\(step)/\(kind)")
    }
}
