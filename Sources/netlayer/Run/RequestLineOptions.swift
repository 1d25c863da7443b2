import NetworkLayer

/// The `options` of a line. Absent means the library's default.
struct RequestLineOptions: Sendable {
    var decompress: Bool?
    var timeoutMs: Int?
    var maxBodyBytes: Int?
    var httpVersion: TransportOptions.HTTPVersion?
    var range: String?
    var authorization: Authorization?
    /// The options that were asked for and are not carried.
    var unsupported: [String] = []

    init() {}

    /// - Throws: ``LineProblem`` that names the key, also within options that are not carried.
    init(_ options: ObjectReader) throws {
        var reader = options
        decompress = try reader.bool("decompress")
        timeoutMs = try reader.integer("timeoutMs")
        maxBodyBytes = try reader.integer("maxBodyBytes")
        range = try reader.string("range")
        httpVersion = try reader.string("httpVersion").map { name in
            guard name != "automatic", let version = TransportOptions.HTTPVersion(rawValue: name) else {
                throw LineProblem("'options.httpVersion' is '\(name.shown)'; it must be '1.0', '1.1' or '2'")
            }
            return version
        }
        if try reader.bool("followRedirects") == true { unsupported.append("followRedirects") }
        if try reader.integer("maxRedirects") != nil { unsupported.append("maxRedirects") }
        if let proxy = try reader.object("proxy") {
            try Self.checkProxy(proxy)
            unsupported.append("proxy")
        }
        if let auth = try reader.object("auth") { try readAuth(auth) }
        switch try reader.string("cookies") {
        case nil, "off": break
        case "memory": unsupported.append("cookies 'memory'")
        case .some(let other): throw LineProblem("'options.cookies' is '\(other.shown)'; it must be 'off' or 'memory'")
        }
        if try reader.array("initialCookies")?.isEmpty == false { unsupported.append("initialCookies") }
        let statuses = try reader.array("keepMethodOn") ?? []
        guard statuses.allSatisfy({ $0.wholeNumber != nil }) else {
            throw LineProblem("'options.keepMethodOn' must hold status codes")
        }
        if !statuses.isEmpty { unsupported.append("keepMethodOn") }
        if try reader.bool("uploadStreamed") == true { unsupported.append("uploadStreamed") }
        try reader.finish()
    }

    private static func checkProxy(_ proxy: ObjectReader) throws {
        var reader = proxy
        for key in ["url", "user", "password"] { _ = try reader.string(key) }
        switch reader.value("noProxy") {
        case nil, .string, .array: break
        case .some(let other): throw LineProblem("'options.proxy.noProxy' is \(other.kind)")
        }
        _ = try reader.bool("tunnel")
        try reader.finish()
    }

    private mutating func readAuth(_ auth: ObjectReader) throws {
        var reader = auth
        let scheme = try reader.string("scheme")
        let user = try reader.string("user")
        let password = try reader.string("password")
        try reader.finish()
        switch scheme {
        case "basic": authorization = .basic(user: user ?? "", password: password ?? "")
        case "bearer": authorization = .bearer(token: password ?? user ?? "")
        case "digest", "any": unsupported.append("auth '\(scheme ?? "")'")
        case nil: throw LineProblem("'options.auth.scheme' is missing")
        case .some(let other):
            throw LineProblem(
                "'options.auth.scheme' is '\(other.shown)'; it must be 'basic', 'digest', 'any' or 'bearer'"
            )
        }
    }

    func refuseUnsupported() throws {
        guard !unsupported.isEmpty else { return }
        let names = unsupported.joined(separator: ", ")
        throw NetworkError(
            .unsupported,
            "not supported by NetworkLayer \(NetworkLayerVersion.current): \(names)",
            phase: .preparing
        )
    }

    func apply(to request: inout TransportRequest) throws {
        if let decompress { request.options.decompress = decompress }
        if let timeoutMs { request.options.totalTimeout = .milliseconds(timeoutMs) }
        if let maxBodyBytes { request.options.maximumBodyBytes = maxBodyBytes }
        if let httpVersion { request.options.httpVersion = httpVersion }
        if let authorization {
            try request.headerFields.add(.authorization, authorization.fieldValue(), for: "auth")
        }
        if let range {
            try request.headerFields.add(.range, ByteRange.fieldValue(range), for: "range")
            // A part of a compressed body can't be decompressed.
            if !request.headerFields.contains(.acceptEncoding) { request.headerFields[.acceptEncoding] = "identity" }
        }
    }
}

extension HTTPFields {
    /// Adds the field that an option stands for.
    /// - Throws: ``NetworkError/Code/invalidOption`` when the field was given as well.
    fileprivate mutating func add(_ name: HTTPField.Name, _ value: String, for option: String) throws {
        guard !contains(name) else {
            throw NetworkError(
                .invalidOption,
                "the option '\(option)' and the header field '\(name.rawName)' exclude one another",
                phase: .preparing
            )
        }
        self[name] = value
    }
}
