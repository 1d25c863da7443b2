/// The groups of options, and others that most requests leave at their defaults. They are stored behind one reference,
/// so that the options of an ordinary request stay small and cheap to copy.
struct RareOptions: Sendable, Hashable {
    var tls = TransportOptions.TLS()
    var proxy = TransportOptions.Proxy()
    var connection = TransportOptions.Connection()
    var names = TransportOptions.Names()
    var rate = TransportOptions.Rate()
    var authentication: TransportOptions.Authentication?
    var urlCredentials: URLCredentials?
    var addressPolicy = AddressPolicy.any
    var acceptedEncodings = TransportOptions.ContentEncoding.common
    var requestCompression = TransportOptions.RequestCompression.none

    func check() throws {
        try tls.check()
        try proxy.check()
        try connection.check()
        try names.check()
        try rate.check()
        try authentication?.check()
        try requestCompression.check()
        guard !acceptedEncodings.isEmpty else {
            throw OptionCheck.invalid("acceptedEncodings", "is empty; use 'decompress = false' to request no encoding")
        }
        try checkTogether()
    }

    private func checkTogether() throws {
        let isProxied = if case .explicit = proxy.choice { true } else { false }
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
        if proxy != TransportOptions.Proxy() { required += proxy.required }
        if connection != TransportOptions.Connection() { required += connection.required }
        if names != TransportOptions.Names() { required += names.required }
        if rate != TransportOptions.Rate() { required += rate.required }
        required += authentication?.required ?? []
        if addressPolicy != .any { required.append(.addressPolicy) }
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

    /// Checks the values of the options.
    func check() throws {
        try verdict.get()
        // Not part of the verdict: a file may become a pipe.
        try value.tls.checkFiles()
        if case .explicit(let proxy) = value.proxy.choice { try proxy.authorities.checkFile("proxy.authorities") }
    }

    @usableFromInline static func == (left: RareOptionsBox, right: RareOptionsBox) -> Bool {
        left === right || left.value == right.value
    }

    @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
