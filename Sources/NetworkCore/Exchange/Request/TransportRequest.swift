public import HTTPTypes

/// One request as a transport accepts it: checked, encoded and complete.
public struct TransportRequest: Sendable, SafelyPrinted {
    /// The HTTP method. CONNECT and TRACE are ``NetworkError/Code/unsupported``, and so is a body with HEAD.
    @inlinable public var method: HTTPRequest.Method {
        _read { yield content.value.method }
        _modify { yield &content.value.method }
    }
    /// The URL.
    @inlinable public var url: RequestURL {
        _read { yield content.value.url }
        _modify { yield &content.value.url }
    }
    /// The caller's header fields, in their order. The fields that are sent are ``wireFields``.
    @inlinable public var headerFields: HTTPFields {
        _read { yield content.value.headerFields }
        _modify { yield &content.value.headerFields }
    }
    /// The body; `nil` for none.
    @inlinable public var body: Body? {
        _read { yield content.value.body }
        _modify { yield &content.value.body }
    }
    /// The options: timeouts, limits, protocol and others.
    @inlinable public var options: TransportOptions {
        _read { yield content.value.options }
        _modify { yield &content.value.options }
    }

    /// The path with the names of its values in place of the values, such as `/users/{id}`: the name of the request in
    /// metrics and traces, which must not grow with values. A redirect has none. `nil`, the default, for none.
    public var template: String? {
        get { content.value.template }
        set { content.value.template = newValue }
    }

    /// Receives each interim response (1xx but 101), in order and before the final one: 103 Early Hints, 104, 100.
    /// Default: `nil`, which leaves them out.
    ///
    /// It is called on the transport's own thread and must return at once. It may be called once more after a
    /// cancellation. A call's redirects, repeats and rounds of a challenge report theirs too. An exchange has at most
    /// 255 of them, with 4,096 lines in all. Over a transport without
    /// ``TransportCapabilities/Capability/interimResponses`` it is never called.
    /// [RFC 9110 §15.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.2),
    /// [RFC 8297](https://www.rfc-editor.org/rfc/rfc8297)
    public var interimResponse: (@Sendable (HTTPResponse) -> Void)? {
        get { content.value.interimResponse }
        set { content.value.interimResponse = newValue }
    }

    @usableFromInline var content: CopyOnWrite<Content>

    @usableFromInline
    struct Content: Sendable {
        @usableFromInline var method: HTTPRequest.Method
        @usableFromInline var url: RequestURL
        @usableFromInline var headerFields: HTTPFields
        @usableFromInline var body: Body?
        @usableFromInline var options: TransportOptions
        var template: String?
        var interimResponse: (@Sendable (HTTPResponse) -> Void)?
    }

    /// Creates a request. ``check(for:)`` checks whether a transport supports it.
    public init(
        method: HTTPRequest.Method = .get,
        url: RequestURL,
        headerFields: HTTPFields = [:],
        body: Body? = nil,
        options: TransportOptions = TransportOptions()
    ) {
        content = CopyOnWrite(
            Content(method: method, url: url, headerFields: headerFields, body: body, options: options))
    }

    /// The header fields to send, the same over every transport.
    ///
    /// These are the caller's fields without `Content-Length` and `Transfer-Encoding`, which follow from the body, and
    /// with several `Cookie` fields combined into one. Fields that the caller did not set are added: `Accept: */*`,
    /// `User-Agent`, and `Accept-Encoding: gzip, deflate`. The value of `Accept-Encoding` is `identity` if
    /// ``TransportOptions/decompress`` is off or the request has `Range`, and otherwise follows
    /// ``TransportOptions/acceptedEncodings``.
    ///
    /// Basic and Bearer credentials from ``TransportOptions/authentication``, or else the user and the password from
    /// the URL, become `Authorization`. ``TransportOptions/requestCompression`` becomes `Content-Encoding`.
    public var wireFields: HTTPFields {
        var fields = ownFields
        // `check()` throws for a request with more fields, and `HTTPFields` traps beyond 65,534.
        forEachAddedField { if fields.count <= HTTPFields.maximumFields { fields.append($0) } }
        return fields
    }

    /// Calls `body` with each of ``wireFields`` without copying them.
    package func forEachWireField(_ body: (HTTPField) -> Void) {
        for field in ownFields { body(field) }
        forEachAddedField(body)
    }

    private var ownFields: HTTPFields {
        var fields = headerFields
        if fields.contains(.contentLength) { fields[.contentLength] = nil }
        if fields.contains(.transferEncoding) { fields[.transferEncoding] = nil }
        if fields.contains(.cookie), case let cookies = fields[values: .cookie], cookies.count > 1 {
            // HTTP/1.1 allows only one (RFC 6265 §5.4); `headerFields[.cookie] =` creates several.
            fields.removeAll { $0.name == .cookie }
            fields.append(HTTPField(name: .cookie, value: cookies.joined(separator: "; ")))
        }
        return fields
    }

    private func forEachAddedField(_ body: (HTTPField) -> Void) {
        let (fields, options) = (headerFields, options)
        if !fields.contains(.accept) { body(.acceptAnything) }
        if !fields.contains(.userAgent) { body(.ownUserAgent) }
        let isRare = options.hasRareOptions
        if !fields.contains(.acceptEncoding) {
            // A range is one of the bytes as they are sent (RFC 9110 §14), so a coding would be cut with them.
            if !options.decompress || fields.contains(.range) {
                body(.acceptIdentity)
            } else {
                body(isRare ? .acceptEncodings(options.acceptedEncodings) : .acceptCommonEncodings)
            }
        }
        guard isRare else { return }
        if compression != nil { body(HTTPField(name: .contentEncoding, value: "gzip")) }
        if expectsContinue, !fields.contains(.expect) { body(.expectContinue) }
        // Credentials from the options, or else from the URL unless the caller set others.
        if let value = options.authentication?.fieldValue ?? urlAuthorization {
            body(HTTPField(name: .authorization, value: value))
        }
    }

    /// Whether the request waits for the server's 100 before its body goes out (RFC 9110 §10.1.1).
    package var expectsContinue: Bool {
        guard let body else { return false }
        return headerFields.contains(.expect)
            || options.hasRareOptions && options.expectContinue != nil && body.length != 0
    }

    /// Returns the body to send, the same over every transport: ``body``, compressed if
    /// ``TransportOptions/requestCompression`` is set. Compression takes no longer than
    /// ``TransportOptions/totalTimeout``.
    /// - Throws: ``NetworkError/Code/unclassified`` if there is not enough memory to compress it;
    ///   ``NetworkError/Code/totalTimeout``; ``NetworkError/Code/cancelled``.
    public func wireBody() throws -> Body? {
        guard let level = compression else { return body }
        let longest = options.totalTimeout.map { min($0, TransportOptions.maximumTimeout) }
        let deadline = longest.map { ContinuousClock.now + $0 }
        return try body?.gzipped(level: level) {
            if Task.isCancelled { throw NetworkError.cancelled }
            if let deadline, deadline <= .now { throw NetworkError.totalTimeout(of: self, phase: .preparing) }
        }
    }

    /// Returns the body of ``wireBody()``, however long its compression takes, and in a cancelled task too.
    func describedWireBody() throws -> Body? {
        guard let level = compression else { return body }
        return try body?.gzipped(level: level) {}
    }

    private var compression: Int? {
        guard options.hasRareOptions, case .gzip(let level) = options.requestCompression, let body, body.length != 0
        else { return nil }
        return level
    }

    /// The default value of `User-Agent`.
    public static let userAgent = "NetworkLayer/\(NetworkLayerVersion.current)"

    /// Checks everything that can be checked before anything is sent.
    /// - Throws: ``NetworkError/Code/invalidOption`` for an option out of range; ``NetworkError/Code/unsupported`` for
    ///   a feature that the transport does not support, with the names of both;
    ///   ``NetworkError/Code/invalidHeaderField`` for a header field that can't be sent.
    public func check(for capabilities: TransportCapabilities) throws {
        try options.check()
        for missing in requiredCapabilities where !capabilities.supports(missing) {
            throw capabilities.refusal(of: missing)
        }
        try checkParts()
    }

    /// Checks everything that does not depend on the transport, as ``check(for:)`` does.
    /// - Throws: ``NetworkError/Code/invalidOption`` and ``NetworkError/Code/invalidHeaderField``.
    public func check() throws {
        try options.check()
        try checkParts()
    }

    /// Checks a request whose options differ from those of one that was checked for the transport in timeouts and
    /// limits alone.
    package func checkApartFromGroups(hasCheckedLimits: Bool) throws {
        if !hasCheckedLimits { try options.checkApartFromGroups() }
        try checkParts()
    }

    private func checkParts() throws {
        try checkMethod()
        try checkCombinations()
        try checkBody()
        try checkHeaderFields()
    }

    private func checkMethod() throws {
        if method == .connect || method == .trace {
            throw NetworkError.refused(
                .unsupported, "\(method.rawValue) is not supported by any transport of this library")
        }
        if method == .head, body != nil {
            throw NetworkError.refused(.unsupported, "a body on HEAD is not supported by any transport")
        }
    }

    private func checkCombinations() throws {
        if options.authentication != nil, headerFields.contains(.authorization) {
            throw NetworkError.refused(
                .invalidOption, "the option authentication and the header field Authorization exclude one another")
        }
        if options.tls.serverName != nil, url.scheme != "https" {
            throw NetworkError.refused(.invalidOption, "tls.serverName has no meaning for an http URL")
        }
        if compression != nil, headerFields.contains(.contentEncoding) {
            throw NetworkError.refused(
                .invalidOption,
                "the option requestCompression and the header field Content-Encoding exclude one another")
        }
        if options.wireLog != nil, options.names.dnsOverHTTPS != nil {
            // libcurl below 8.4 writes the lookup's own exchange to standard error, including path and query.
            throw NetworkError.refused(.invalidOption, "the options wireLog and names.dnsOverHTTPS exclude one another")
        }
    }

    func checkBodyLength() throws {
        if let length = body?.length, length < 0 {
            throw NetworkError.refused(.invalidOption, "the body's length is \(length), below 0")
        }
    }

    private func checkBody() throws {
        try checkBodyLength()
        let hasLength = body?.length != nil && (compression == nil || body?.knownBytes != nil)
        if options.httpVersion == .http1_0, body != nil, !hasLength {
            throw NetworkError.refused(.unsupported, "a body of unknown length can't be sent with HTTP/1.0")
        }
    }

    private func checkHeaderFields() throws {
        var (bytes, namesHost) = (0, false)
        for field in headerFields {
            try field.checkValue()
            if field.name == .host {
                // libcurl would send the first one alone, and URLSession one field with both values.
                if namesHost { throw NetworkError.invalidHeaderField("Host", "is given twice (RFC 9112 §3.2)") }
                namesHost = true
            }
            bytes += field.name.rawName.utf8.count + field.value.utf8.count + 4
        }
        // Several fields are sent as one.
        try ownFields[fields: .cookie].first?.checkValue()
        if options.hasRareOptions, let value = options.authentication?.fieldValue ?? urlAuthorization {
            try HTTPField(name: .authorization, value: value).checkValue()
        }
        guard bytes <= Self.maximumHeaderBytes else {
            throw NetworkError.refused(
                .invalidHeaderField,
                "the header fields have \(bytes) bytes together; at most \(Self.maximumHeaderBytes) are sent")
        }
    }

    /// The maximum total size of the header fields, in bytes.
    public static let maximumHeaderBytes = 262_144

    private var requiredCapabilities: [TransportCapabilities.Capability] {
        var required: [TransportCapabilities.Capability] = []
        if method == .get, body != nil { required.append(.bodyOnGet) }
        if case .produced = body?.content { required.append(.streamedRequestBodies) }
        if body?.hasTrailers == true { required.append(.requestTrailers) }
        if options.wireLog != nil { required.append(.wireLog) }
        if url.isIPv6Literal { required.append(.ipv6Literals) }
        return required + options.required
    }

    /// The method, the URL without its query, the number of header fields, and the length of a body.
    public var description: String {
        "\(method.rawValue) \(url), \(headerFields.count) header fields" + (body.map { ", \($0)" } ?? "")
    }

    /// Adds the header fields that the request does not have yet, up to the number for which ``check()`` throws.
    mutating func addMissing(_ fields: HTTPFields, where isWanted: (HTTPField.Name) -> Bool = { _ in true }) {
        guard !fields.isEmpty else { return }
        // A name may occur several times in the added fields.
        let own = headerFields
        // HTTPFields looks at one field after another.
        let names = own.count > Self.fewFields ? Set(own.lazy.map(\.name)) : nil
        for field in fields where !(names?.contains(field.name) ?? own.contains(field.name)) && isWanted(field.name) {
            guard headerFields.count <= HTTPFields.maximumFields else { return }
            headerFields.append(field)
        }
    }

    private static var fewFields: Int { 64 }

    /// Checks the number of header fields, to which the pipeline adds some: `HTTPFields` traps beyond 65,534.
    func checkFieldCount(adding more: Int = 0) throws {
        guard headerFields.count + more > HTTPFields.maximumFields else { return }
        throw NetworkError.refused(
            .invalidHeaderField,
            "the request has \(headerFields.count + more) header fields; no request can have more than "
                + "\(HTTPFields.maximumFields)")
    }
}

extension HTTPField {
    /// The fields that are added by default. Created once, because every request has them.
    package static let acceptAnything = HTTPField(name: .accept, value: "*/*")
    fileprivate static let ownUserAgent = HTTPField(name: .userAgent, value: TransportRequest.userAgent)
    fileprivate static let expectContinue = HTTPField(name: .expect, value: "100-continue")
    fileprivate static let acceptIdentity = HTTPField(name: .acceptEncoding, value: "identity")
    fileprivate static let acceptCommonEncodings = acceptEncodings(TransportOptions.ContentEncoding.common)

    fileprivate static func acceptEncodings(_ encodings: [TransportOptions.ContentEncoding]) -> HTTPField {
        HTTPField(name: .acceptEncoding, value: encodings.map(\.rawValue).joined(separator: ", "))
    }
}

/// The version of this library.
public enum NetworkLayerVersion {
    /// The version, as in the changelog.
    public static let current = "0.1.0"
}

extension RequestURL {
    static let placeholder = RequestURL(scheme: "http", host: "localhost", port: nil, path: "/", query: nil)
}
