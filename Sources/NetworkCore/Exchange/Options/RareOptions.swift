/// The groups of options, and others that most requests leave at their defaults. They are stored behind one reference,
/// so that the options of an ordinary request stay small and cheap to copy.
struct RareOptions: Sendable, Hashable {
    var tls = TransportOptions.TLS()
    var proxy = TransportOptions.Proxy.environment
    var connection = TransportOptions.Connection()
    var names = TransportOptions.Names()
    var rate = TransportOptions.Rate()
    var authentication: TransportOptions.Authentication?
    var urlCredentials: URLCredentials?
    var addressPolicy = AddressPolicy.any
    var acceptedEncodings = TransportOptions.ContentEncoding.common
    var requestCompression = TransportOptions.RequestCompression.none
    var expectContinue: Duration?

    func check() throws {
        try tls.check()
        try proxy.check()
        try connection.check()
        try names.check()
        try rate.check()
        try authentication?.check()
        try requestCompression.check()
        if let expectContinue { try OptionCheck.duration(expectContinue, "expectContinue") }
        guard !acceptedEncodings.isEmpty else {
            throw OptionCheck.invalid("acceptedEncodings", "is empty; use 'decompress = false' to request no encoding")
        }
        try checkTogether()
    }

    private func checkTogether() throws {
        let isProxied = if case .explicit = proxy { true } else { false }
        if addressPolicy != .any {
            if isProxied {
                let reason = "can't be enforced through a proxy, which looks up the names itself"
                throw OptionCheck.invalid("addressPolicy", reason)
            }
            if connection.unixSocket != nil {
                throw OptionCheck.invalid("addressPolicy", "has no meaning with connection.unixSocket")
            }
        }
        if isProxied, connection.unixSocket != nil {
            throw OptionCheck.invalid("connection.unixSocket", "has no meaning with a proxy")
        }
        if isProxied, !names.addresses.isEmpty {
            throw OptionCheck.invalid("names.addresses", "has no meaning with a proxy, which looks up the names itself")
        }
    }

    var required: [TransportCapabilities.Capability] {
        var required: [TransportCapabilities.Capability] = []
        if tls != TransportOptions.TLS() { required += tls.required }
        if proxy != TransportOptions.Proxy.environment { required += proxy.required }
        if connection != TransportOptions.Connection() { required += connection.required }
        if names != TransportOptions.Names() { required += names.required }
        if rate != TransportOptions.Rate() { required += rate.required }
        required += authentication?.required ?? []
        if addressPolicy != .any { required.append(.addressPolicy) }
        if expectContinue != nil { required.append(.expectContinue) }
        for encoding in acceptedEncodings { required += encoding.required }
        return required
    }
}

/// ``RareOptions`` behind a reference; equal if the values are. The results of the checks are computed once and not for
/// each request.
@usableFromInline final class RareOptionsBox: Sendable, Hashable {
    let value: RareOptions
    let required: [TransportCapabilities.Capability]
    private let verdict: Result<Void, any Error>

    init(_ value: RareOptions) {
        self.value = value
        required = value.required
        verdict = Result { try value.check() }
    }

    func check() throws {
        try verdict.get()
        // Not part of the verdict: a file may become a pipe.
        try value.tls.checkFiles()
        if case .explicit(let proxy) = value.proxy { try proxy.authorities.checkFile("proxy.authorities") }
    }

    @usableFromInline static func == (left: RareOptionsBox, right: RareOptionsBox) -> Bool {
        left === right || left.value == right.value
    }

    @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// Checks for the values of options, before anything is sent. libcurl does not filter line breaks, and a C string ends
/// at NUL.
enum OptionCheck {
    /// Checks that a text has no control characters, at most 65,536 bytes and, unless allowed, is not empty.
    static func text(_ value: String, _ name: String, mayBeEmpty: Bool = false) throws {
        if let offset = value.utf8.enumerated().first(where: { $0.element < 0x20 || $0.element == 0x7F })?.offset {
            throw invalid(name, "has a control character at byte \(offset)")
        }
        if value.isEmpty, !mayBeEmpty { throw invalid(name, "is empty") }
        if value.utf8.count > 65_536 { throw invalid(name, "has more than 65536 bytes") }
    }

    /// Checks that a text may be the path of a file that libcurl reads on the transport's thread: no pipe or device,
    /// which would hold the thread up.
    static func file(_ path: String, _ name: String) throws {
        if SystemFile.isPipeOrDevice(path) { throw invalid(name, "names a pipe or a device, not a file") }
    }

    static func token(_ value: String, _ name: String, without excluded: String = "") throws {
        try text(value, name)
        guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !excluded.utf8.contains($0) }) else {
            throw invalid(name, "has a character that is not allowed there")
        }
    }

    /// Checks a host name or an IP address. An IPv6 address may have brackets.
    @discardableResult
    static func host(_ value: String, _ name: String) throws -> String {
        try text(value, name)
        // What ends a host in a URL would be left out of the check below, and so would an empty port.
        let isPlain = !value.utf8.contains { "#?/\\@".utf8.contains($0) }
        guard isPlain, !value.hasByteSuffix(":") || value.hasByteSuffix("::") else {
            throw invalid(name, "is not a host")
        }
        let isBareIPv6 = value.contains(byte: UInt8(ascii: ":")) && !value.hasBytePrefix("[")
        do {
            let url = try RequestURL(ascii: "http://\(isBareIPv6 ? "[\(value)]" : value)/")
            guard url.port == nil, url.path == "/", url.query == nil else { throw invalid(name, "is not a host") }
            return url.host
        } catch {
            throw invalid(name, "is not a host: \((error as? NetworkError)?.message ?? "\(error)")")
        }
    }

    static func port(_ value: Int, _ name: String) throws {
        guard (1...65_535).contains(value) else { throw invalid(name, "is \(value); a port is from 1 to 65535") }
    }

    static func duration(_ value: Duration, _ name: String) throws {
        guard value > .zero, value <= TransportOptions.maximumTimeout else {
            throw invalid(name, "is \(value); it must be above 0 and at most a year")
        }
    }

    static func pause(_ value: Duration, _ name: String) throws {
        if value != .zero { try duration(value, name) }
    }

    static func atLeast(_ limit: Int, _ value: Int, _ name: String) throws {
        if value < limit { throw invalid(name, "is \(value); it must be \(limit) or more") }
    }

    static func invalid(_ name: String, _ problem: String) -> NetworkError {
        NetworkError.refused(.invalidOption, "\(name) \(problem)")
    }
}
