import ArgumentParser
import NetworkLayer

/// The options of `fetch` that apply to each exchange: credentials, a part of the body, a proxy.
struct ExchangeOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Name and password; other users can see them in 'ps'.", valueName: "name:password")
    )
    var user: String?

    @Option(
        help: ArgumentHelp(
            "The scheme of --user: basic, digest, or any for the strongest the server offers.", valueName: "scheme"))
    var auth: Scheme = .basic

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("A part of the body: '0-499', '500-', '-500', or a list of them.", valueName: "range")
    )
    var range: String?

    @Option(
        name: [.customShort("x"), .long],
        help: ArgumentHelp(
            "The proxy: http, https, socks4, socks4a, socks5 or socks5h; empty for none. Overrides the environment.",
            valueName: "url"
        )
    )
    var proxy: String?

    /// The scheme that sends a name and a password.
    enum Scheme: String, ExpressibleByArgument, CaseIterable {
        case basic, digest, any
    }

    func validate() throws {
        if let user, !user.utf8.contains(UInt8(ascii: ":")) {
            // The message does not repeat the text: it may be the password.
            throw ValidationError("--user takes 'name:password'; the value has no ':'")
        }
        if user == nil, auth != .basic { throw ValidationError("--auth has no meaning without --user") }
    }

    /// Sets the options on a request.
    /// - Throws: ``NetworkError/Code/invalidOption`` for an invalid range, or one that a header field sets too.
    func apply(to request: inout TransportRequest) throws {
        if let user { request.options.authentication = authentication(user) }
        if let range { try request.ask(forPart: range) }
        if let proxy { request.options.proxy = proxy.isEmpty ? .none : .explicit(TransportOptions.Proxy.Server(proxy)) }
    }

    private func authentication(_ text: String) -> TransportOptions.Authentication {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let (user, password) = (parts[0], TransportOptions.Secret(parts.count > 1 ? parts[1] : ""))
        return switch auth {
        case .basic: .basic(user: user, password: password)
        case .digest: .digest(user: user, password: password)
        case .any: .anySafe(user: user, password: password)
        }
    }
}
