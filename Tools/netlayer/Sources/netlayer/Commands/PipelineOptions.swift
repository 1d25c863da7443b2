import ArgumentParser
import Foundation
import NetworkLayer

/// The options that apply to more than one exchange: redirects, cookies, retries, a token.
struct PipelineOptions: ParsableArguments {
    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects.") var location = false

    @Option(help: ArgumentHelp("The most redirects to follow. (default: 20)", valueName: "number"))
    var maxRedirects: Int?

    @Option(
        name: [.customShort("b"), .long], parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A cookie to send, 'name=value'. May be repeated.", valueName: "cookie")
    )
    var cookie: [String] = []

    @Option(
        help: ArgumentHelp("Retries after temporary failures: 503, lost connections, …", valueName: "number")
    )
    var retry = 0

    @Option(
        name: [.long, .customLong("oauth2-bearer")],
        help: ArgumentHelp("A bearer token for the URL's origin only; others can see it in 'ps'.", valueName: "token"))
    var bearer: String?

    @Option(help: ArgumentHelp("The environment variable that holds the bearer token.", valueName: "name"))
    var bearerEnv: String?

    @Option(help: ArgumentHelp("The file that holds the bearer token.", valueName: "file"))
    var bearerFile: String?

    /// The largest token file, in bytes.
    private static let maximumTokenBytes = 65_536

    func validate() throws {
        if let maxRedirects {
            guard location else { throw ValidationError("--max-redirects has no meaning without --location") }
            try OptionChecks.range(maxRedirects, 0...1000, "--max-redirects")
        }
        try OptionChecks.range(retry, 0...100, "--retry")
        for (index, cookie) in cookie.enumerated() where !Self.isCookie(cookie) {
            // The message does not repeat the text: it may be a secret.
            throw ValidationError("cookie \(index + 1) is not of the form 'name=value'; --cookie-jar reads a file")
        }
        guard [bearer, bearerEnv, bearerFile].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("--bearer, --bearer-env and --bearer-file exclude one another")
        }
    }

    /// Returns the client that the options describe.
    /// - Parameter token: The token of ``token(from:)``, for the URL's origin.
    /// - Throws: ``NetworkError`` for a token that can't be sent.
    func client(
        over transport: any HTTPTransport, for url: RequestURL, token: TransportOptions.Secret?
    ) throws -> NetworkClient {
        var client = NetworkClient(transport: transport)
        client.redirectPolicy = location ? .standard : .none
        if let maxRedirects { client.redirectPolicy.maximumRedirects = maxRedirects }
        if retry > 0 {
            var policy = RetryInterceptor.Policy()
            policy.maximumRetries = retry
            client.interceptors.append(.retry(policy, budget: RetryInterceptor.Budget(capacity: Double(retry))))
        }
        if let token {
            client.exchangeInterceptors.append(try BearerAuthentication(for: [url.absoluteString], token: token))
        }
        return client
    }

    private static func isCookie(_ text: String) -> Bool {
        text.split(separator: ";").allSatisfy { $0.utf8.contains(UInt8(ascii: "=")) } && !text.isEmpty
    }

    /// What a call does beyond one exchange, in words that have no secrets.
    var steps: [String] {
        var steps: [String] = []
        if location { steps.append("redirects \(maxRedirects ?? RedirectPolicy.standard.maximumRedirects)") }
        if retry > 0 { steps.append("retries \(retry)") }
        if bearer ?? bearerEnv ?? bearerFile != nil { steps.append("a bearer token") }
        return steps
    }

    /// The value of the Cookie field that the `--cookie` options make up.
    var cookieField: String? { cookie.isEmpty ? nil : cookie.joined(separator: "; ") }

    /// Returns the bearer token; `nil` without one.
    /// - Throws: ``ToolFailure`` for a token that can't be read.
    func token(from files: InputFiles) async throws -> TransportOptions.Secret? {
        if let bearer { return TransportOptions.Secret(bearer) }
        if let bearerEnv {
            guard let value = ProcessInfo.processInfo.environment[bearerEnv] else {
                let name = ShownName.variable(bearerEnv)
                throw ToolFailure(.usage, "the environment has no variable \(name) (--bearer-env)")
            }
            return TransportOptions.Secret(value)
        }
        guard let bearerFile else { return nil }
        let bytes = try await files.bytes(
            of: bearerFile, name: "the file \(ShownName.path(bearerFile)) (--bearer-file)",
            limit: Self.maximumTokenBytes)
        return TransportOptions.Secret(
            String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
