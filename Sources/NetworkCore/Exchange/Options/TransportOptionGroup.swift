/// Options that belong together, as one property of ``TransportOptions``. A new group is one more of these, a property
/// there, and an entry in ``RareOptions``.
protocol TransportOptionGroup: Sendable, Hashable {
    /// The defaults, which change nothing.
    init()

    /// Checks the values.
    /// - Throws: ``NetworkError/Code/invalidOption`` that names the option.
    func check() throws

    /// What a transport must be able to do; asked only when the group is not at its defaults.
    var required: [TransportCapabilities.Capability] { get }
}

/// The options that most requests leave alone. They are kept behind one reference, so that the options of an ordinary
/// request stay small and cheap to copy.
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

    /// Those that are not at their defaults.
    private var groups: [any TransportOptionGroup] {
        func changed<Group: TransportOptionGroup>(_ group: Group) -> (any TransportOptionGroup)? {
            group == Group() ? nil : group
        }
        return [changed(tls), changed(proxy), changed(connection), changed(names), changed(rate)].compactMap(\.self)
    }

    func check() throws {
        for group in groups { try group.check() }
        try authentication?.check()
        try requestCompression.check()
        guard !acceptedEncodings.isEmpty else {
            throw OptionCheck.invalid("acceptedEncodings", "is empty; 'decompress = false' asks for no encoding")
        }
        try checkTogether()
    }

    /// What would contradict itself.
    private func checkTogether() throws {
        let isProxied = if case .explicit = proxy.choice { true } else { false }
        if addressPolicy != .any {
            if isProxied {
                let reason = "can't be kept through a proxy, which looks up the names itself"
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
        var required = groups.flatMap(\.required)
        required += authentication?.required ?? []
        if addressPolicy != .any { required.append(.addressPolicy) }
        for encoding in acceptedEncodings { required += encoding.required }
        return required
    }
}

/// ``RareOptions`` behind a reference; equal when the values are. What is asked for each request is found out once.
final class RareOptionsBox: Sendable, Hashable {
    let value: RareOptions
    let required: [TransportCapabilities.Capability]
    private let verdict: Result<Void, any Error>

    init(_ value: RareOptions) {
        self.value = value
        required = value.required
        verdict = Result { try value.check() }
    }

    /// Checks the values.
    /// - Throws: ``NetworkError/Code/invalidOption`` that names the option.
    func check() throws { try verdict.get() }

    static func == (left: RareOptionsBox, right: RareOptionsBox) -> Bool { left === right || left.value == right.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
