import ArgumentParser
import NetworkLayer

/// The options of `fetch` that apply to each exchange: credentials, and a part of the body.
struct ExchangeOptions: ParsableArguments {
    @Option(
        name: [.customShort("u"), .long],
        help: ArgumentHelp("Name and password; other users can see them in 'ps'.", valueName: "name:password")
    )
    var user: String?

    @Flag(help: "The scheme of --user; --anyauth is the strongest that the server offers. (default: --basic)")
    var scheme: Scheme?

    @Option(
        name: .customLong("aws-sigv4"),
        help: ArgumentHelp(
            "Sign for Amazon's services, with --user as key and secret: 'aws:amz:region:service'.",
            valueName: "provider"),
        transform: Self.signature)
    var signature: TransportOptions.Authentication.AWSSignature?

    @Option(
        name: [.customShort("r"), .long],
        parsing: .unconditional,
        help: ArgumentHelp("A part of the body: '0-499', '500-', '-500', or a list of them.", valueName: "range")
    )
    var range: String?

    /// The scheme that sends a name and a password.
    enum Scheme: EnumerableFlag {
        case basic, digest, anySafe

        static func name(for value: Scheme) -> NameSpecification {
            switch value {
            case .basic, .digest: .long
            case .anySafe: .customLong("anyauth")
            }
        }
    }

    func validate() throws {
        if let user, !user.utf8.contains(UInt8(ascii: ":")) {
            // The message does not repeat the text: it may be the password.
            throw ValidationError("--user takes 'name:password'; the value has no ':'")
        }
        if user == nil, scheme != nil {
            throw ValidationError("--basic, --digest and --anyauth have no meaning without --user")
        }
        if signature != nil, user == nil || scheme != nil {
            throw ValidationError("--aws-sigv4 needs --user, and excludes --basic, --digest and --anyauth")
        }
    }

    /// Reads `provider[:provider[:region[:service]]]`, as curl does.
    private static func signature(_ text: String) throws -> TransportOptions.Authentication.AWSSignature {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 4, !parts.contains("") else {
            throw ValidationError("write it as 'provider:provider:region:service'")
        }
        var signature = TransportOptions.Authentication.AWSSignature(
            keyID: "", secretKey: "", region: parts.count > 2 ? parts[2] : nil,
            service: parts.count > 3 ? parts[3] : nil)
        signature.provider = parts.prefix(2).joined(separator: ":")
        return signature
    }

    /// Sets the options on a request.
    /// - Throws: ``NetworkError/Code/invalidOption`` for an invalid range, or one that a header field sets too.
    func apply(to request: inout TransportRequest) throws {
        if let user { request.options.authentication = authentication(user) }
        if let range { try request.ask(forPart: range) }
    }

    private func authentication(_ text: String) -> TransportOptions.Authentication {
        let (user, value) = text.splitAtColon
        let password = TransportOptions.Secret(value)
        if var signature {
            (signature.keyID, signature.secretKey) = (user, password)
            return .awsSigV4(signature)
        }
        return switch scheme {
        case .basic, nil: .basic(user: user, password: password)
        case .digest: .digest(user: user, password: password)
        case .anySafe: .anySafe(user: user, password: password)
        }
    }
}
