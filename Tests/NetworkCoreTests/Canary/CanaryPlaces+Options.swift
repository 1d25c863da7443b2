import Foundation
import TestSupport

@testable import NetworkCore

extension CanaryPlace {
    /// All places in the options and in the parts of a client.
    static let options: [CanaryPlace] = [
        .option("Basic") { $0.authentication = .basic(user: $1.value, password: TransportOptions.Secret($1.value)) },
        .option("Bearer") { $0.authentication = .bearer(token: TransportOptions.Secret($1.value)) },
        .option("Digest") { $0.authentication = .digest(user: $1.value, password: TransportOptions.Secret($1.value)) },
        .option("any authentication") {
            $0.authentication = .anySafe(user: $1.value, password: TransportOptions.Secret($1.value))
        },
        .option("the keys of AWS") {
            $0.authentication = .awsSigV4(
                .init(
                    keyID: $1.value, secretKey: TransportOptions.Secret($1.value), region: "eu", service: "service"))
        },
        .option("a proxy's user and password") {
            $0.proxy = .explicit(
                TransportOptions.Proxy.Server(
                    "http://proxy:3128", user: $1.value, password: TransportOptions.Secret($1.value)))
        },
        .option("the password in a proxy's URL") {
            $0.proxy = .explicit(TransportOptions.Proxy.Server("http://u:\($1.value)@proxy:3128"))
        },
        .option("the user in a proxy's URL") {
            $0.proxy = .explicit(TransportOptions.Proxy.Server("socks5://\($1.percentEncoded):@proxy:1"))
        },
        .option("a proxy's URL without a scheme") {
            $0.proxy = .explicit(TransportOptions.Proxy.Server("u:\($1.percentEncoded)@proxy:1"))
        },
        .option("the query of a proxy's URL") {
            $0.proxy = .explicit(TransportOptions.Proxy.Server("http://proxy:1/?key=\($1.value)"))
        },
        .option("a proxy's header field") {
            var proxy = TransportOptions.Proxy.Server("http://proxy:1")
            proxy.headerFields[.proxyAuthorization] = $1.value
            $0.proxy = .explicit(proxy)
        },
        .option("the password of a certificate") {
            $0.tls.clientCertificate = .init(
                .file("/c.pem"), key: .file("/k.pem"), password: TransportOptions.Secret($1.value))
        },
        .option("a certificate and its key in memory") {
            $0.tls.clientCertificate = .init(.bytes($1.data), key: .bytes($1.data))
        },
        .option("authorities in memory") { $0.tls.authorities = .bytes($1.data) },
        .option("the query of a server for DNS over HTTPS") { $0.names.dnsOverHTTPS = "https://dns/q?key=\($1.value)" },
        .option("the path of a server for DNS over HTTPS") {
            $0.names.dnsOverHTTPS = "https://dns/\($1.percentEncoded)"
        },
        .option("the password of a server for DNS over HTTPS") {
            $0.names.dnsOverHTTPS = "https://u:\($1.percentEncoded)@dns/"
        },
        CanaryPlace("a secret") { [TransportOptions.Secret($0.value), ["token": TransportOptions.Secret($0.value)]] },
        CanaryPlace("a cookie") { secret in
            let cookie = CookieJar.Cookie(name: "sid", value: secret.value, domain: "example.com")
            let jar = CookieJar()
            var client = NetworkClient(transport: AnsweringTransport(.init()))
            client.cookieJar = jar
            try jar.set(CookieJar.Cookie(name: "sid", value: secret.data.base64EncodedString(), domain: "example.com"))
            do { try jar.set(cookie) } catch { return [cookie, jar, client, error] }
            return [cookie, jar, client, jar.cookies]
        },
        CanaryPlace("a file of cookies") { secret in
            let jar = CookieJar()
            do { try jar.add(netscape: "example.com\tFALSE\t/\tFALSE\t0\tsid\t\(secret.value)") } catch {
                return [jar, error]
            }
            return [jar, jar.cookies]
        },
        CanaryPlace("a client's credentials") { secret in
            var client = NetworkClient(transport: AnsweringTransport(.init()))
            client.options.authentication = .digest(user: secret.value, password: TransportOptions.Secret(secret.value))
            client.headerFields = [.authorization: secret.value]
            client.baseURL = "http://h/?\(secret.value)"
            let bearer = try BearerAuthentication(for: ["https://h"], token: TransportOptions.Secret(secret.value))
            client.exchangeInterceptors = [bearer]
            return [
                client, bearer, client.options, client.interceptors, ResponseForm<Data>.data,
            ]
        },
        CanaryPlace("the origin of a token") { secret in
            [
                try BearerAuthentication(
                    for: ["https://u:\(secret.percentEncoded)@h/?k=\(secret.percentEncoded)"], token: "t")
            ]
        },
    ]

    /// All places that a server or another library can fill without an exchange.
    static let answers: [CanaryPlace] = [
        CanaryPlace("the words of the layer below") { secret in
            let url = "https://u:\(secret.percentEncoded)@h/p?key=\(secret.percentEncoded)"
            let below = NetworkError.Underlying(domain: "libcurl", code: 7, message: "could not connect to '\(url)'")
            var error = NetworkError(.connectFailed, "no connection to \(url)", underlying: below)
            error.message = "no connection to \(url)"
            error.underlying?.message = "no connection to \(url)"
            return [error, below]
        },
        CanaryPlace("a proxy of the environment, in the words of the layer below") { secret in
            ["http://u:\(secret.value)@h:1", "u:\(secret.value)@h", "socks5://\(secret.value)@h"].flatMap { proxy in
                let words = "Unsupported proxy syntax in '\(proxy)': no port"
                let below = NetworkError.Underlying(domain: "libcurl", code: 5, message: words)
                return [NetworkError(.proxyFailed, words, underlying: below), below] as [Any]
            }
        },
        CanaryPlace("a failed response") { secret in
            var error = NetworkError(.unacceptableStatus, "the server responded with 404")
            let response = NetworkError.FailedResponse(
                status: .notFound, headerFields: [.setCookie: secret.value], body: secret.data)
            error.response = response
            error.decoding = .init(
                type: "User", codingPath: secret.value, reason: secret.value, bodyStart: secret.value)
            return [error, response, error.decoding as Any]
        },
        CanaryPlace("problem details") { secret in
            var problem = ProblemDetails()
            problem.type = secret.value
            problem.title = secret.value
            problem.detail = secret.value
            problem.instance = secret.value
            problem.extensions = [secret.value: .string(secret.value)]
            return [problem]
        },
        CanaryPlace("the id after which a stream of events begins") { secret in
            var options = ServerSentEvents.Options()
            options.lastEventID = secret.value
            return [options, ResponseForm<ServerSentEvents>.events(options)]
        },
        CanaryPlace("the keys of a body that can't be decoded") { secret in
            let body = try JSONEncoder().encode([secret.value: ["x"]])
            do { _ = try JSONDecoder().decode([String: [Int]].self, from: body) } catch {
                return [NetworkError.decodingFailed([String: [Int]].self, body, error)]
            }
            return []
        },
        CanaryPlace("an event") { secret in
            let event = ServerSentEvents.Event(id: secret.value, type: secret.value, data: secret.value)
            var parser = ServerSentEvents.Parser(lastEventID: secret.value)
            let events = parser.events(
                in: Data("id: \(secret.value)\ndata: \(secret.value)\n\ndata: \(secret.value)".utf8))
            return [event, parser, events]
        },
        CanaryPlace("a response made by hand") { secret in
            let head = HTTPResponse(
                status: .init(code: 302, reasonPhrase: secret.value),
                headerFields: [
                    .setCookie: secret.value, .location: "http://h/?\(secret.value)",
                ])
            let metrics = TransportMetrics(total: .seconds(1))
            return [
                NetworkResponse(body: secret.value, head: head, metrics: metrics),
                TransportResponse(head: head, body: TransportResponse.Body(secret.data), metrics: metrics),
                TransportResponse.Body(secret.data),
            ]
        },
    ]
}
