public import NetworkCore

/// The options of libcurl that take a plain value and need no code of their own. All that the library, its tests, the
/// table of capabilities and `curlCommand` know of one is its declaration here: a new one is a member of ``all`` and a
/// key below.
enum PlainOptions {
    static let all: [any PlainOption] = [keepAliveProbes, happyEyeballsDelay, tlsGroups, tlsSignatureAlgorithms]

    fileprivate static let keepAliveProbes = PlainDeclaration(
        "keepAliveProbes", .long(326, "CURLOPT_TCP_KEEPCNT"), since: LibcurlVersion(8, 9),
        also: [(.tcpKeepAlive, 1)],
        flag: "keepalive-cnt",
        .number(1...127))

    fileprivate static let happyEyeballsDelay = PlainDeclaration(
        "happyEyeballsDelay", .long(271, "CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS"), since: LibcurlVersion(7, 59),
        flag: "happy-eyeballs-timeout-ms",
        .milliseconds(1...60_000))

    fileprivate static let tlsGroups = PlainDeclaration(
        "tlsGroups", .text(298, "CURLOPT_SSL_EC_CURVES"), since: LibcurlVersion(7, 73), isOpenSSLs: true,
        flag: "curves",
        .list)

    fileprivate static let tlsSignatureAlgorithms = PlainDeclaration(
        "tlsSignatureAlgorithms", .text(328, "CURLOPT_SSL_SIGNATURE_ALGORITHMS"), since: LibcurlVersion(8, 14),
        isOpenSSLs: true,
        flag: "sigalgs",
        .list)
}

extension TransportOptions.Key<Int> {
    /// The number of unacknowledged keep-alive probes after which a connection is closed, from 1 to 127. Probes have
    /// the times of ``TransportOptions/Connection/keepAlive``, or 60 s. Requires libcurl 8.9. Default: the system's
    /// number. [CURLOPT_TCP_KEEPCNT](https://curl.se/libcurl/c/CURLOPT_TCP_KEEPCNT.html)
    public static var keepAliveProbes: Self { PlainOptions.keepAliveProbes.key }
}

extension TransportOptions.Key<Duration> {
    /// The time for which the connection over the first address family is tried alone, in whole milliseconds from 1 ms
    /// to 60 s; then the other family is tried as well
    /// ([RFC 8305](https://www.rfc-editor.org/rfc/rfc8305)). Default: 200 ms.
    /// [CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS](https://curl.se/libcurl/c/CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS.html)
    public static var happyEyeballsDelay: Self { PlainOptions.happyEyeballsDelay.key }
}

extension TransportOptions.Key<String> {
    /// The groups of the TLS key exchange in order of preference, separated by colons, such as
    /// `X25519MLKEM768:X25519:P-256`. A group that the TLS library does not know fails the exchange. Requires a libcurl
    /// with OpenSSL or a library like it. Default: the TLS library's groups.
    /// [CURLOPT_SSL_EC_CURVES](https://curl.se/libcurl/c/CURLOPT_SSL_EC_CURVES.html)
    public static var tlsGroups: Self { PlainOptions.tlsGroups.key }

    /// The signature algorithms of TLS in order of preference, separated by colons, such as `ed25519:RSA-PSS+SHA256`.
    /// Requires libcurl 8.14 with OpenSSL or a library like it. Default: the TLS library's algorithms.
    /// [CURLOPT_SSL_SIGNATURE_ALGORITHMS](https://curl.se/libcurl/c/CURLOPT_SSL_SIGNATURE_ALGORITHMS.html)
    public static var tlsSignatureAlgorithms: Self { PlainOptions.tlsSignatureAlgorithms.key }
}

/// An option of libcurl that takes a plain value.
protocol PlainOption: Sendable {
    var capability: TransportCapabilities.Capability { get }
    /// The option's number and name in libcurl.
    var libcurlKey: PlainKey { get }
    /// The first version of libcurl that has the option.
    var since: LibcurlVersion { get }
    /// Whether libcurl ignores the option with a TLS library other than OpenSSL and those like it.
    var isOpenSSLs: Bool { get }

    /// Sets the option on a handle, if a request sets it.
    func apply(_ options: TransportOptions, to easy: EasyHandle) throws
}

/// The declaration of a plain option.
struct PlainDeclaration<Value: Hashable & Sendable>: PlainOption {
    let key: TransportOptions.Key<Value>
    let libcurlKey: PlainKey
    let since: LibcurlVersion
    let isOpenSSLs: Bool
    private let companions: [(option: LongOption, value: Int)]
    private let form: Form

    /// How a kind of value is checked and handed to libcurl.
    struct Form: Sendable {
        let problem: @Sendable (Value) -> String?
        let plain: @Sendable (Value) -> PlainValue
    }

    /// - Parameters:
    ///   - name: The option's name in errors.
    ///   - libcurlKey: The option's number and name in libcurl.
    ///   - since: The first version of libcurl that has it.
    ///   - isOpenSSLs: Whether libcurl ignores it with another TLS library.
    ///   - companions: Options that must be set with it.
    ///   - flag: The name of curl's flag for it, without the dashes.
    ///   - form: The kind of its values.
    init(
        _ name: String, _ libcurlKey: PlainKey, since: LibcurlVersion, isOpenSSLs: Bool = false,
        also companions: [(option: LongOption, value: Int)] = [], flag: String, _ form: Form
    ) {
        let word = "--" + flag
        let key = TransportOptions.Key(name, problem: form.problem, curlArguments: { [word, form.plain($0).text] })
        self.key = key
        self.libcurlKey = libcurlKey
        self.since = since
        self.isOpenSSLs = isOpenSSLs
        self.companions = companions
        self.form = form
    }

    var capability: TransportCapabilities.Capability { key.capability }

    func apply(_ options: TransportOptions, to easy: EasyHandle) throws {
        guard let value = options[key] else { return }
        for (option, value) in companions { try easy.set(option, value) }
        switch form.plain(value) {
        case .number(let number):
            try easy.set(LongOption(number: libcurlKey.number, name: libcurlKey.name), number)
        case .text(let text): try easy.set(StringOption(number: libcurlKey.number, name: libcurlKey.name), text)
        }
    }
}

/// A value as libcurl takes it.
enum PlainValue {
    case number(Int), text(String)

    var text: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text): text
        }
    }
}

extension PlainDeclaration.Form where Value == Int {
    /// An integer.
    static func number(_ range: ClosedRange<Int>) -> Self {
        Self(
            problem: {
                range.contains($0) ? nil : "is \($0); it must be from \(range.lowerBound) to \(range.upperBound)"
            },
            plain: { .number($0) })
    }
}

extension PlainDeclaration.Form where Value == Duration {
    /// Whole milliseconds, rounded up.
    static func milliseconds(_ range: ClosedRange<Int>) -> Self {
        Self(
            problem: {
                (Duration.milliseconds(range.lowerBound)...Duration.milliseconds(range.upperBound)).contains($0)
                    ? nil : "is \($0); it must be from \(range.lowerBound) to \(range.upperBound) ms"
            },
            plain: { .number($0.roundedUpMilliseconds) })
    }
}

extension PlainDeclaration.Form where Value == String {
    /// Names of visible ASCII, separated by colons.
    static var list: Self {
        Self(
            problem: { text in
                if text.isEmpty { return "is empty" }
                if text.utf8.count > 65_536 { return "has more than 65536 bytes" }
                let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                return isVisible ? nil : "has a character that is not allowed there"
            },
            plain: { .text($0) })
    }
}
