import CurlTransport
import FoundationEssentials
import NetworkCore
import NetworkResilience

/// The values while they are read: what belongs together comes in several keys.
struct SettingsDraft: Sendable {
    var baseURL: String?
    var userAgent: String?
    var transport = NetworkSettings.Transport.standard
    var curl = CurlNetworkDispatcher.Configuration()
    var options = TransportOptions()
    var hasTotalTimeout = false
    var followsRedirects = true
    var maximumRedirects = RedirectPolicy.standard.maximumRedirects
    var proxy = Proxy()
    var certificate = Certificate()
    var authentication = Authentication()
    var isResilient = false
    var steps = ResilienceValues()

    struct Proxy: Sendable {
        var url: String?
        var isOff = false
        var user: String?
        var password: String?
        var exceptions: [String] = []
        var scheme = TransportOptions.Proxy.Server.AuthenticationScheme.basic
        var authorities: String?
    }

    struct Certificate: Sendable {
        var file: String?
        var key: String?
        var password: String?
    }

    struct Authentication: Sendable {
        enum Scheme: String, CaseIterable, Sendable { case none, basic, bearer, digest, anySafe }

        var scheme = Scheme.none
        var user: String?
        var password: String?
        var token: String?
    }

    /// Changes an option, and checks it next to defaults, so that each fault is found with its key.
    mutating func setOption(_ change: (inout TransportOptions) -> Void) throws {
        try Self.checkOption(change)
        change(&options)
    }

    static func checkOption(_ change: (inout TransportOptions) -> Void) throws {
        var alone = TransportOptions()
        change(&alone)
        do { try alone.check() } catch let error as NetworkError {
            throw WrongValue("can't be used: \(error.message)")
        }
    }

    /// Whether keys that need this one have an effect.
    func isOn(_ key: String) -> Bool {
        switch key {
        case "transport": transport != .urlsession
        case "redirects.follow": followsRedirects
        case "proxy.url": proxy.url != nil
        case "proxy.user": proxy.user != nil
        case "tls.certificateFile": certificate.file != nil
        case "authentication.scheme": authentication.scheme != .none
        case "resilience.enabled": isResilient
        case "resilience.rate.limit": isResilient && steps.rate != nil
        case "resilience.breaker.enabled": isResilient && steps.hasBreaker
        default: true
        }
    }

    /// Puts together what comes in several keys.
    /// - Returns: What is wrong with them together, by key.
    mutating func finish() -> [(key: String, reason: String)] {
        var wrong: [(key: String, reason: String)] = []
        if proxy.isOff { options.proxy = .none }
        if let url = proxy.url {
            var server = TransportOptions.Proxy.Server(
                url, user: proxy.user, password: proxy.password.map { .init($0) })
            (server.noProxy, server.authenticationScheme) = (proxy.exceptions, proxy.scheme)
            if let file = proxy.authorities { server.authorities = .file(file) }
            options.proxy = .explicit(server)
        }
        if let file = certificate.file {
            options.tls.clientCertificate = .init(
                .file(file), key: certificate.key.map { .file($0) }, password: certificate.password.map { .init($0) })
        }
        func part(_ value: String?, _ key: String) -> String {
            if value == nil {
                wrong.append((key, "is missing; authentication.scheme '\(authentication.scheme.rawValue)' needs it"))
            }
            return value ?? ""
        }
        switch authentication.scheme {
        case .none: break
        case .bearer:
            options.authentication = .bearer(token: .init(part(authentication.token, "authentication.token")))
        case .basic, .digest, .anySafe:
            let user = part(authentication.user, "authentication.user")
            let password = TransportOptions.Secret(part(authentication.password, "authentication.password"))
            options.authentication =
                switch authentication.scheme {
                case .digest: .digest(user: user, password: password)
                case .anySafe: .anySafe(user: user, password: password)
                default: .basic(user: user, password: password)
                }
        }
        return wrong
    }
}
