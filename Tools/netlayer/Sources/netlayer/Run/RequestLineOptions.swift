import Foundation
import JSONText
import NetworkLayer

/// The `options` of a line. An absent option has the library's default.
struct RequestLineOptions: Sendable {
    var decompress: Bool?
    var timeoutMs: Int?
    var maxBodyBytes: Int?
    var httpVersion: TransportOptions.HTTPVersion?
    var range: String?
    var authentication: TransportOptions.Authentication?
    var proxy: TransportOptions.Proxy?
    /// The most redirects to follow; `nil` follows none.
    var maximumRedirects: Int?
    /// The redirect statuses that keep the method and the body.
    var keepMethodOn: Set<Int> = []
    /// Whether credentials are sent to every origin that a redirect leads to.
    var trustsRedirects = false
    /// Whether a redirect may lead from https to http.
    var allowsDowngrade = false
    /// Whether cookies are kept, for the line or its session.
    var keepsCookies = false
    var initialCookies: [CookieJar.Cookie] = []
    /// Whether the body is sent in chunks, without an announced length.
    var isUploadStreamed = false

    init() {}

    /// Reads the options of a line.
    /// - Throws: ``LineProblem`` that names the key.
    init(_ options: ObjectReader) throws {
        var reader = options
        decompress = try reader.bool("decompress")
        timeoutMs = try reader.integer("timeoutMs")
        maxBodyBytes = try reader.integer("maxBodyBytes")
        range = try reader.string("range")
        httpVersion = try reader.string("httpVersion").map { name in
            guard name != "automatic", let version = TransportOptions.HTTPVersion(rawValue: name) else {
                let choices = "'1.0', '1.1', '2', '2-prior-knowledge' or '3'"
                throw LineProblem("'options.httpVersion' is '\(name.shown)'; it must be \(choices)")
            }
            return version
        }
        try readRedirects(&reader)
        try readCookies(&reader)
        proxy = try reader.object("proxy").map { try TransportOptions.Proxy($0) }
        if let auth = try reader.object("auth") { try readAuth(auth) }
        isUploadStreamed = try reader.bool("uploadStreamed") ?? false
        try reader.finish()
    }

    private mutating func readRedirects(_ reader: inout ObjectReader) throws {
        let follows = try reader.bool("followRedirects") ?? false
        let limit = try reader.integer("maxRedirects") ?? RedirectPolicy.standard.maximumRedirects
        guard limit >= 0 else { throw LineProblem("'options.maxRedirects' is \(limit); it must be 0 or more") }
        maximumRedirects = follows ? limit : nil
        trustsRedirects = try reader.bool("trustRedirects") ?? false
        allowsDowngrade = try reader.bool("allowDowngrade") ?? false
        keepMethodOn = Set(
            try (reader.array("keepMethodOn") ?? []).map { value in
                guard let status = value.wholeNumber else {
                    throw LineProblem("'options.keepMethodOn' must hold status codes")
                }
                return status
            })
    }

    private mutating func readCookies(_ reader: inout ObjectReader) throws {
        let mode = try reader.string("cookies")
        initialCookies = try (reader.array("initialCookies") ?? []).enumerated().map { index, value in
            guard case .object(let members) = value else {
                throw LineProblem("'options.initialCookies[\(index)]' is \(value.kind); an object was expected")
            }
            return try CookieJar.Cookie(ObjectReader(members, path: "options.initialCookies[\(index)]."))
        }
        switch mode {
        case nil: keepsCookies = !initialCookies.isEmpty
        case "memory": keepsCookies = true
        case "off":
            guard initialCookies.isEmpty else {
                throw LineProblem("'options.initialCookies' has no meaning with 'cookies' off")
            }
        case .some(let other): throw LineProblem("'options.cookies' is '\(other.shown)'; it must be 'off' or 'memory'")
        }
    }

    /// Returns the client for the line.
    /// - Parameters:
    ///   - request: The line's request.
    ///   - jar: Returns the session's cookies, or a new jar; called only if the line keeps cookies.
    /// - Throws: ``NetworkError/Code/invalidOption`` for an initial cookie that no server could set.
    func client(
        over transport: any HTTPTransport,
        for request: TransportRequest,
        jar: () -> CookieJar
    ) throws -> NetworkClient {
        var client = NetworkClient(transport: transport)
        client.redirectPolicy = .none
        if let maximumRedirects {
            client.redirectPolicy = trustsRedirects ? .trusting(request) : .standard
            client.redirectPolicy.maximumRedirects = maximumRedirects
            client.redirectPolicy.keepsMethodOn = keepMethodOn
            client.redirectPolicy.allowsDowngrade = allowsDowngrade
        }
        if keepsCookies {
            let jar = jar()
            for cookie in initialCookies { try jar.set(cookie) }
            client.cookieJar = jar
        }
        return client
    }

    private mutating func readAuth(_ auth: ObjectReader) throws {
        var reader = auth
        let scheme = try reader.string("scheme")
        let user = try reader.string("user")
        let password = try reader.string("password")
        try reader.finish()
        switch scheme {
        case "basic": authentication = .basic(user: user ?? "", password: TransportOptions.Secret(password ?? ""))
        case "bearer": authentication = .bearer(token: TransportOptions.Secret(password ?? user ?? ""))
        case "digest": authentication = .digest(user: user ?? "", password: TransportOptions.Secret(password ?? ""))
        case "any": authentication = .anySafe(user: user ?? "", password: TransportOptions.Secret(password ?? ""))
        case nil: throw LineProblem("'options.auth.scheme' is missing")
        case .some(let other):
            throw LineProblem(
                "'options.auth.scheme' is '\(other.shown)'; it must be 'basic', 'digest', 'any' or 'bearer'"
            )
        }
    }

    func apply(to request: inout TransportRequest) throws {
        if let decompress { request.options.decompress = decompress }
        if let timeoutMs { request.options.totalTimeout = .milliseconds(timeoutMs) }
        if let maxBodyBytes { request.options.maximumBodyBytes = maxBodyBytes }
        if let httpVersion { request.options.httpVersion = httpVersion }
        if let authentication { request.options.authentication = authentication }
        if let proxy { request.options.proxy = proxy }
        if isUploadStreamed { request.body = request.body?.knownBytes.map { .streamed($0) } }
        // Checked here and not only when the request is sent, so that the error names the line.
        try request.options.check()
        if let range { try request.ask(forPart: range) }
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
