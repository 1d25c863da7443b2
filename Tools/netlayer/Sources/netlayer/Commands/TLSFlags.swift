import ArgumentParser
import NetworkLayer

/// The options of `fetch` for TLS, under the names that curl(1) gives them.
struct TLSFlags: ParsableArguments {
    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("Trust the authorities of this PEM file instead of the system's.", valueName: "file"))
    var authorities: String?

    @Option(
        name: .customLong("capath"),
        help: ArgumentHelp("Trust those of a directory, as c_rehash makes it.", valueName: "directory"))
    var authoritiesDirectory: String?

    @Option(
        name: [.customShort("E"), .customLong("cert")],
        help: ArgumentHelp(
            "The client's certificate, PEM; its key's password may follow. A colon of the file's name is '\\:'.",
            valueName: "file[:password]"))
    var certificate: String?

    @Option(help: ArgumentHelp("Its key, PEM, if it is not in the same file.", valueName: "file")) var key: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The key's password; others see it in 'ps'.", valueName: "password"))
    var pass: String?

    @Option(
        name: .customLong("pinnedpubkey"),
        help: ArgumentHelp("Public keys of which the server must have one: 'sha256//…;sha256//…'.", valueName: "pins"))
    var pins: String?

    @Flag(help: "The oldest version of TLS to speak. (default: --tlsv1.2)") var minimum: Minimum?

    @Option(help: ArgumentHelp("The newest version of TLS to speak: 1.0 to 1.3.", valueName: "version"))
    var tlsMax: Maximum?

    @Option(help: ArgumentHelp("The cipher suites for TLS 1.2 and older, as OpenSSL names them.", valueName: "list"))
    var ciphers: String?

    @Option(
        name: .customLong("tls13-ciphers"), help: ArgumentHelp("The cipher suites for TLS 1.3.", valueName: "list"))
    var cipherSuites: String?

    /// `--tlsv1.2` and its like.
    enum Minimum: EnumerableFlag {
        case tls1_0, tls1_1, tls1_2, tls1_3

        static func name(for value: Minimum) -> NameSpecification {
            switch value {
            case .tls1_0: .customLong("tlsv1.0")
            case .tls1_1: .customLong("tlsv1.1")
            case .tls1_2: .customLong("tlsv1.2")
            case .tls1_3: .customLong("tlsv1.3")
            }
        }

        var version: TransportOptions.TLS.Version {
            switch self {
            case .tls1_0: .tls1_0
            case .tls1_1: .tls1_1
            case .tls1_2: .tls1_2
            case .tls1_3: .tls1_3
            }
        }
    }

    /// `--tls-max 1.2`.
    enum Maximum: String, ExpressibleByArgument, CaseIterable {
        case tls1_0 = "1.0"
        case tls1_1 = "1.1"
        case tls1_2 = "1.2"
        case tls1_3 = "1.3"

        var version: TransportOptions.TLS.Version {
            switch self {
            case .tls1_0: .tls1_0
            case .tls1_1: .tls1_1
            case .tls1_2: .tls1_2
            case .tls1_3: .tls1_3
            }
        }
    }

    func validate() throws {
        if authorities != nil, authoritiesDirectory != nil {
            throw ValidationError("--cacert and --capath exclude one another")
        }
        if certificate == nil, key != nil || pass != nil { throw ValidationError("--key and --pass need --cert") }
    }

    /// Returns the file and the password of `file:password`, as curl reads it: `\\:` is a colon of the file's name, and
    /// `\\\\` a backslash.
    static func parts(of text: String) -> (file: String, password: String?) {
        var file: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ":") { return (String(decoding: file, as: UTF8.self), String(Substring(rest))) }
            let isEscape = byte == UInt8(ascii: "\\") && (rest.first == UInt8(ascii: ":") || rest.first == byte)
            file.append(isEscape ? rest.removeFirst() : byte)
        }
        return (String(decoding: file, as: UTF8.self), nil)
    }

    func apply(to options: inout TransportOptions) {
        if let authorities { options.tls.authorities = .file(authorities) }
        if let authoritiesDirectory { options.tls.authorities = .directory(authoritiesDirectory) }
        if let certificate {
            let (file, password) = Self.parts(of: certificate)
            options.tls.clientCertificate = .init(
                .file(file), key: key.map { .file($0) },
                password: (pass ?? password).map { TransportOptions.Secret($0) })
        }
        if let pins { options.tls.pinnedPublicKeys = pins.split(separator: ";").map(String.init) }
        if let minimum { options.tls.minimumVersion = minimum.version }
        if let tlsMax { options.tls.maximumVersion = tlsMax.version }
        if let ciphers { options.tls.ciphers = ciphers }
        if let cipherSuites { options.tls.cipherSuites = cipherSuites }
    }
}
