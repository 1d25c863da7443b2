package import NetworkCore

/// An option of libcurl that takes a plain value.
protocol PlainOption: Sendable {
    var capability: TransportCapabilities.Capability { get }
    /// The option's number and name in libcurl.
    var libcurlKey: PlainKey { get }
    /// The first version of libcurl that has the option.
    var since: LibcurlVersion { get }
    /// Whether libcurl ignores the option with a TLS library other than OpenSSL and those like it.
    var isOpenSSLs: Bool { get }
    var flag: PlainFlag { get }

    /// Sets the option on a handle, if a request sets it.
    func apply(_ options: TransportOptions, to easy: EasyHandle) throws
}

/// The flag that curl, and so `netlayer`, has for a plain option.
package struct PlainFlag: Sendable {
    /// The name, without the dashes.
    package let name: String
    /// What the value is, as a help text names it.
    package let valueName: String
    /// What the flag does, as a help text says it.
    package let help: String
    /// Sets the option to a value that is given as text.
    /// - Throws: ``NetworkError/Code/invalidOption`` if the text is no value of the option.
    package fileprivate(set) var set: @Sendable (String, inout TransportOptions) throws -> Void = { _, _ in }

    init(_ name: String, valueName: String, help: String) {
        self.name = name
        self.valueName = valueName
        self.help = help
    }
}

/// The declaration of a plain option.
struct PlainDeclaration<Value: Hashable & Sendable>: PlainOption {
    let key: TransportOptions.Key<Value>
    let libcurlKey: PlainKey
    let since: LibcurlVersion
    let isOpenSSLs: Bool
    let flag: PlainFlag
    private let companions: [(option: LongOption, value: Int)]
    private let form: Form

    /// How a kind of value is read, checked, and handed to libcurl.
    struct Form: Sendable {
        let value: @Sendable (String) -> Value?
        let problem: @Sendable (Value) -> String?
        let plain: @Sendable (Value) -> PlainValue
    }

    /// - Parameters:
    ///   - name: The option's name in errors.
    ///   - libcurlKey: The option's number and name in libcurl.
    ///   - since: The first version of libcurl that has it.
    ///   - isOpenSSLs: Whether libcurl ignores it with another TLS library.
    ///   - companions: Options that must be set with it.
    ///   - form: The kind of its values.
    init(
        _ name: String, _ libcurlKey: PlainKey, since: LibcurlVersion, isOpenSSLs: Bool = false,
        also companions: [(option: LongOption, value: Int)] = [], flag: PlainFlag, _ form: Form
    ) {
        let word = "--" + flag.name
        let key = TransportOptions.Key(name, problem: form.problem, curlArguments: { [word, form.plain($0).text] })
        var flag = flag
        flag.set = { text, options in
            guard let value = form.value(text) else {
                throw NetworkError(.invalidOption, "\(name) is not a number", phase: .preparing)
            }
            options[key] = value
        }
        self.key = key
        self.libcurlKey = libcurlKey
        self.since = since
        self.isOpenSSLs = isOpenSSLs
        self.companions = companions
        self.flag = flag
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
            value: { Int($0) },
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
            value: { Int($0).map { .milliseconds($0) } },
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
            value: { $0 },
            problem: { text in
                if text.isEmpty { return "is empty" }
                if text.utf8.count > 65_536 { return "has more than 65536 bytes" }
                let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                return isVisible ? nil : "has a character that is not allowed there"
            },
            plain: { .text($0) })
    }
}
