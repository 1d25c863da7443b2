import Foundation
import JSONText
import NetworkLayer

/// One line of `run`'s input. A key that is absent has the library's default.
struct RequestLine: Sendable {
    let id: JSONValue
    /// The session of the request. Requests of one session share cookies. All requests share one transport and its
    /// connections.
    let session: JSONValue?
    let request: TransportRequest
    private let redirects: RedirectPolicy
    private let keepsCookies: Bool
    private let initialCookies: [CookieJar.Cookie]

    /// Returns the id of a line, as far as it can be read; `null` otherwise.
    static func id(of value: JSONValue) -> JSONValue {
        guard case .object(let members) = value, let id = members.first(where: { $0.key == "id" })?.value else {
            return .null
        }
        switch id {
        case .string, .number, .null: return id
        case .bool, .array, .object: return .null
        }
    }

    init(_ value: JSONValue) throws {
        guard case .object(let members) = value else {
            throw LineProblem("a request must be an object; this is \(value.kind)")
        }
        var line = ObjectReader(members)
        id = try line.label("id") ?? .null
        session = try line.label("session")
        let url = try line.needed("url")
        let method = try line.string("method") ?? "GET"
        let headers = try line.pairs("headers")
        let body = try line.string("bodyBase64").map { text in
            guard let data = Data(base64Encoded: text) else { throw LineProblem("'bodyBase64' is not base64") }
            return data
        }
        var options = try line.object("options") ?? ObjectReader([])
        try line.finish()
        var own = TransportOptions()
        if let decompress = try options.bool("decompress") { own.decompress = decompress }
        if let timeout = try options.integer("timeoutMs") { own.totalTimeout = .milliseconds(timeout) }
        if let maximum = try options.integer("maxBodyBytes") { own.maximumBodyBytes = maximum }
        let range = try options.string("range")
        if let name = try options.string("httpVersion") {
            guard name != "automatic", let version = TransportOptions.HTTPVersion(rawValue: name) else {
                let choices = "'1.0', '1.1', '2', '2-prior-knowledge' or '3'"
                throw LineProblem("'options.httpVersion' is '\(name.shown)'; it must be \(choices)")
            }
            own.httpVersion = version
        }
        let (follows, trusts, redirects) = try Self.redirects(&options)
        (keepsCookies, initialCookies) = try Self.cookies(&options)
        if let proxy = try options.object("proxy") { own.proxy = try TransportOptions.Proxy(proxy) }
        if let auth = try options.object("auth") { own.authentication = try TransportOptions.Authentication(auth) }
        let isStreamed = try options.bool("uploadStreamed") ?? false
        try options.finish()

        var request = try TransportRequest(method: try HTTPRequest.Method(checking: method), to: url)
        for (name, value) in headers { try request.headerFields.append(checking: name, value: value) }
        request.body = body.map { isStreamed ? .streamed($0) : .bytes($0) }
        // One by one: the options have the user and the password of a URL.
        (request.options.decompress, request.options.totalTimeout) = (own.decompress, own.totalTimeout)
        (request.options.maximumBodyBytes, request.options.httpVersion) = (own.maximumBodyBytes, own.httpVersion)
        (request.options.proxy, request.options.authentication) = (own.proxy, own.authentication)
        // Checked here and not only when the request is sent, so that the error names the line.
        try request.options.check()
        if let range { try request.ask(forPart: range) }
        self.request = request
        var policy: RedirectPolicy = follows ? (trusts ? .trusting(request) : .standard) : .none
        if follows {
            (policy.maximumRedirects, policy.keepsMethodOn) = (redirects.maximumRedirects, redirects.keepsMethodOn)
            policy.allowsDowngrade = redirects.allowsDowngrade
        }
        self.redirects = policy
    }

    /// Returns whether redirects are followed, whether each origin gets the credentials, and the other rules.
    private static func redirects(
        _ options: inout ObjectReader
    ) throws -> (follows: Bool, trusts: Bool, policy: RedirectPolicy) {
        var policy = RedirectPolicy.standard
        let follows = try options.bool("followRedirects") ?? false
        if let limit = try options.integer("maxRedirects") {
            guard limit >= 0 else { throw LineProblem("'options.maxRedirects' is \(limit); it must be 0 or more") }
            policy.maximumRedirects = limit
        }
        let trusts = try options.bool("trustRedirects") ?? false
        policy.allowsDowngrade = try options.bool("allowDowngrade") ?? false
        policy.keepsMethodOn = Set(
            try (options.array("keepMethodOn") ?? []).map { value in
                guard let status = value.wholeNumber else {
                    throw LineProblem("'options.keepMethodOn' must hold status codes")
                }
                return status
            })
        return (follows, trusts, policy)
    }

    private static func cookies(
        _ options: inout ObjectReader
    ) throws -> (keepsCookies: Bool, initial: [CookieJar.Cookie]) {
        let mode = try options.string("cookies")
        let cookies = try (options.array("initialCookies") ?? []).enumerated().map { index, value in
            guard case .object(let members) = value else {
                throw LineProblem("'options.initialCookies[\(index)]' is \(value.kind); an object was expected")
            }
            return try CookieJar.Cookie(ObjectReader(members, path: "options.initialCookies[\(index)]."))
        }
        switch mode {
        case nil: return (!cookies.isEmpty, cookies)
        case "memory": return (true, cookies)
        case "off" where cookies.isEmpty: return (false, [])
        case "off": throw LineProblem("'options.initialCookies' has no meaning with 'cookies' off")
        case .some(let other): throw LineProblem("'options.cookies' is '\(other.shown)'; it must be 'off' or 'memory'")
        }
    }

    func client(over transport: any HTTPTransport, jar: () -> CookieJar) throws -> NetworkClient {
        var client = NetworkClient(transport: transport)
        client.redirectPolicy = redirects
        if keepsCookies {
            let jar = jar()
            for cookie in initialCookies { try jar.set(cookie) }
            client.cookieJar = jar
        }
        return client
    }
}

extension ObjectReader {
    fileprivate mutating func label(_ key: String) throws -> JSONValue? {
        switch value(key) {
        case nil: return nil
        case .string(let text): return .string(text)
        case .number(let digits): return .number(digits)
        case .some(let other): throw LineProblem("'\(key)' is \(other.kind); a string or a number was expected")
        }
    }

    fileprivate mutating func needed(_ key: String) throws -> String {
        guard let text = try string(key) else { throw LineProblem("'\(path)\(key)' is missing") }
        return text
    }
}

extension CookieJar.Cookie {
    fileprivate init(_ entry: ObjectReader) throws {
        var entry = entry
        let domain = try entry.needed("domain").lowercased()
        let isDotted = domain.utf8.first == UInt8(ascii: ".")
        let seconds = try entry.integer("expires") ?? 0
        self.init(
            name: try entry.needed("name"), value: try entry.string("value") ?? "",
            domain: isDotted ? String(Substring(domain.utf8.dropFirst())) : domain,
            includesSubdomains: try entry.bool("includeSubdomains") ?? isDotted,
            path: try entry.string("path") ?? "/", isSecure: try entry.bool("secure") ?? false,
            isHTTPOnly: try entry.bool("httpOnly") ?? false,
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)))
        try entry.finish()
    }
}

extension TransportOptions.Authentication {
    fileprivate init(_ auth: ObjectReader) throws {
        var auth = auth
        let scheme = try auth.needed("scheme")
        let (user, password) = (try auth.string("user"), try auth.string("password"))
        try auth.finish()
        let (name, secret) = (user ?? "", TransportOptions.Secret(password ?? ""))
        switch scheme {
        case "basic": self = .basic(user: name, password: secret)
        case "bearer": self = .bearer(token: TransportOptions.Secret(password ?? name))
        case "digest": self = .digest(user: name, password: secret)
        case "any": self = .anySafe(user: name, password: secret)
        default:
            throw LineProblem(
                "'options.auth.scheme' is '\(scheme.shown)'; it must be 'basic', 'digest', 'any' or 'bearer'")
        }
    }
}

extension TransportOptions.Proxy {
    /// Reads a proxy. An empty URL means none, as in curl.
    fileprivate init(_ proxy: ObjectReader) throws {
        var proxy = proxy
        let url = try proxy.needed("url")
        var server = Server(
            url, user: try proxy.string("user"),
            password: try proxy.string("password").map { TransportOptions.Secret($0) })
        switch try proxy.string("scheme") {
        case nil: break
        case "basic": server.authenticationScheme = .basic
        case "digest": server.authenticationScheme = .digest
        case "any": server.authenticationScheme = .anySafe
        case .some(let name):
            throw LineProblem("'options.proxy.scheme' is '\(name.shown)'; it must be 'basic', 'digest' or 'any'")
        }
        switch proxy.value("noProxy") {
        case nil: break
        case .string(let list): server.noProxy = list.split { ", ".contains($0) }.map(String.init)
        case .array(let hosts):
            server.noProxy = try hosts.map { host in
                guard case .string(let host) = host else {
                    throw LineProblem("'options.proxy.noProxy' must hold strings")
                }
                return host
            }
        case .some(let other): throw LineProblem("'options.proxy.noProxy' is \(other.kind)")
        }
        server.tunnel = try proxy.bool("tunnel") ?? false
        for (name, value) in try proxy.pairs("headers") { try server.headerFields.append(checking: name, value: value) }
        let (file, folder) = (try proxy.string("caFile"), try proxy.string("caDirectory"))
        if file != nil, folder != nil {
            throw LineProblem("'options.proxy.caFile' and 'options.proxy.caDirectory' exclude one another")
        }
        if let file { server.authorities = .file(file) }
        if let folder { server.authorities = .directory(folder) }
        try proxy.finish()
        self = url.isEmpty ? .none : .explicit(server)
    }
}

extension RedirectPolicy {
    /// Returns a policy that follows the permitted redirects, and sends the request's credentials to every origin.
    fileprivate static func trusting(_ request: TransportRequest) -> RedirectPolicy {
        .deciding { proposal in
            var next = proposal.request
            let left = request.headerFields.filter { field in
                // Fields that describe a body are dropped together with the body.
                SecretFields.contains(field.name) && !field.name.canonicalName.hasPrefix("content-")
                    && !proposal.request.headerFields.contains(field.name)
            }
            for field in left { next.headerFields.append(field) }
            next.options.authentication = request.options.authentication
            return .follow(next)
        }
    }
}

extension TransportRequest.Body {
    /// Returns a body of 64 KiB chunks in chunked encoding, which can be sent again.
    fileprivate static func streamed(_ bytes: Data) -> TransportRequest.Body {
        .replayableStream {
            AsyncStream { pieces in
                var rest = bytes
                while !rest.isEmpty {
                    pieces.yield(Data(rest.prefix(65_536)))
                    rest = rest.dropFirst(65_536)
                }
                pieces.finish()
            }
        }
    }
}

extension TransportRequest {
    /// Requests a part of the body: `0-499`, `500-`, `-500`, or a list of them, with or without `bytes=`.
    mutating func ask(forPart range: String) throws {
        func failure(_ message: String) -> NetworkError { NetworkError(.invalidOption, message, phase: .preparing) }
        guard !headerFields.contains(.range) else {
            throw failure("the option 'range' and the header field 'Range' exclude one another")
        }
        let ranges = range.hasPrefix("bytes=") ? range.dropFirst(6) : range[...]
        for part in ranges.split(separator: ",", omittingEmptySubsequences: false) {
            guard let match = part.wholeMatch(of: /([0-9]*)-([0-9]*)/), part.count > 1,
                let first = match.1.isEmpty ? 0 : UInt64(match.1), let last = match.2.isEmpty ? .max : UInt64(match.2),
                first <= last
            else {
                throw failure(
                    "the option 'range' is '\(range.shown)'; it takes '0-499', '500-', '-500', or a list of them")
            }
        }
        headerFields[.range] = "bytes=\(ranges)"
        // A part of a compressed body can't be decompressed.
        if !headerFields.contains(.acceptEncoding) { headerFields[.acceptEncoding] = "identity" }
    }
}
