import ArgumentParser
import Foundation
import NetworkLayer

/// The options that describe a request and the call that it is a part of.
struct RequestFlags: ParsableArguments {
    @Option(name: [.customShort("X"), .customLong("request")], help: "The method. (default: GET, or POST with a body)")
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")], parsing: .unconditionalSingleValue,
        help: .init("A header field, 'Name: value'. May be repeated.", valueName: "field"))
    var headers: [String] = []

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Request the head alone.") var head = false

    @Option(
        name: [.customShort("A"), .long],
        help: .init("The field User-Agent, in place of the tool's.", valueName: "name"))
    var userAgent: String?

    @Option(name: [.customShort("e"), .long], help: .init("The field Referer.", valueName: "url")) var referer: String?

    @Option(
        name: [.customShort("d"), .long, .customLong("data-binary"), .customLong("data-ascii")],
        parsing: .unconditionalSingleValue,
        help: .init(
            "The request's body, as a form; several are joined by '&'. '@file' for a file's bytes, '@-' for standard "
                + "input, alone.", valueName: "data"))
    var data: [String] = []

    @Option(parsing: .unconditionalSingleValue, help: .init("The same as it is, a leading '@' too.", valueName: "data"))
    var dataRaw: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("The same, percent-encoded: 'name=text', '=text' or 'text'.", valueName: "data"))
    var dataUrlencode: [String] = []

    @Option(
        parsing: .unconditional,
        help: .init("A body of JSON, and the fields for JSON; '@file' for a file's bytes.", valueName: "json"))
    var json: String?

    @Flag(name: [.customShort("G"), .customLong("get")], help: "Send the data as a query.") var sendsQuery = false

    @Option(
        name: [.customShort("T"), .long],
        help: .init("Upload a file by PUT; '-' for standard input.", valueName: "file"))
    var uploadFile: String?

    @Flag(help: "Do not request compression, and do not decompress.") var raw = false

    @Option(
        name: [.customShort("u"), .long],
        help: .init("Name and password; other users can see them in 'ps'.", valueName: "name:password"))
    var user: String?

    @Flag(help: "The scheme of --user; --anyauth is the strongest that the server offers. (default: --basic)")
    var scheme: Scheme?

    @Option(
        name: .customLong("aws-sigv4"),
        help: .init(
            "Sign for Amazon's services, with --user as key and secret: 'aws:amz:region:service'.",
            valueName: "provider"),
        transform: Self.signature)
    var signature: TransportOptions.Authentication.AWSSignature?

    @Option(
        name: [.customShort("r"), .long], parsing: .unconditional,
        help: .init("A part of the body: '0-499', '500-', '-500', or a list of them.", valueName: "range"))
    var range: String?

    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects.") var location = false

    @Option(help: .init("The most redirects to follow. (default: 20)", valueName: "number")) var maxRedirects: Int?

    @Option(
        name: [.customShort("b"), .long], parsing: .unconditionalSingleValue,
        help: .init("A cookie to send, 'name=value'. May be repeated.", valueName: "cookie"))
    var cookie: [String] = []

    @Option(help: .init("Retries after temporary failures: 503, lost connections, …", valueName: "number"))
    var retry = 0

    @Option(
        name: [.long, .customLong("oauth2-bearer")],
        help: .init("A bearer token for the URL's origin only; others can see it in 'ps'.", valueName: "token"))
    var bearer: String?

    @Option(help: .init("The environment variable that holds the bearer token.", valueName: "name"))
    var bearerEnv: String?

    @Option(help: .init("The file that holds the bearer token.", valueName: "file")) var bearerFile: String?

    /// What the tool does anyway: it asks for compression, prints nothing besides the response, reads no configuration
    /// and takes a URL as it is.
    @Flag(help: .hidden) var compressed = false
    @Flag(name: .shortAndLong, help: .hidden) var silent = false
    @Flag(name: [.customShort("S"), .long], help: .hidden) var showError = false
    @Flag(name: [.customShort("q"), .long], help: .hidden) var disable = false
    @Flag(name: [.customShort("g"), .long], help: .hidden) var globoff = false

    enum Scheme: EnumerableFlag { case basic, digest, anyauth }

    /// Reads `provider[:provider[:region[:service]]]`, as curl does.
    private static func signature(_ text: String) throws -> TransportOptions.Authentication.AWSSignature {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        try refuse(if: parts.count > 4 || parts.contains(""), "write it as 'provider:provider:region:service'")
        var signature = TransportOptions.Authentication.AWSSignature(
            keyID: "", secretKey: "", region: parts.count > 2 ? parts[2] : nil,
            service: parts.count > 3 ? parts[3] : nil)
        signature.provider = parts.prefix(2).joined(separator: ":")
        return signature
    }

    func validate() throws {
        try refuse(
            if: bodies > 1,
            "--data, --json and --upload-file exclude one another, and a file is the only part of a body")
        try refuse(if: sendsQuery && (forms.isEmpty || file != nil), "--get needs --data that is no file")
        try refuse(if: head && (method != nil || hasData && !sendsQuery), "--head excludes --request and a body")
        // A name before a ';' is curl's for a field without a value.
        try OptionChecks.fields(headers.map { $0.utf8.last == UInt8(ascii: ";") ? ":" : $0 }, "header field")
        try OptionChecks.nameAndPassword(user, "--user")
        try refuse(if: user == nil && scheme != nil, "--basic, --digest and --anyauth have no meaning without --user")
        try refuse(
            if: signature != nil && (user == nil || scheme != nil),
            "--aws-sigv4 needs --user, and excludes --basic, --digest and --anyauth")
        if let maxRedirects {
            guard location else { throw ValidationError("--max-redirects has no meaning without --location") }
            try OptionChecks.range(maxRedirects, 0...1000, "--max-redirects")
        }
        try OptionChecks.range(retry, 0...100, "--retry")
        for (index, cookie) in cookie.enumerated()
        where cookie.isEmpty || !cookie.split(separator: ";").allSatisfy({ $0.contains(byte: UInt8(ascii: "=")) }) {
            // The message does not repeat the text: it may be a secret.
            throw ValidationError("cookie \(index + 1) is not of the form 'name=value'; --cookie-jar reads a file")
        }
        try refuse(
            if: [bearer, bearerEnv, bearerFile].count { $0 != nil } > 1,
            "--bearer, --bearer-env and --bearer-file exclude one another")
    }

    // MARK: The body

    /// The file whose bytes are the body, by `--data @file`, `--json @file` or `--upload-file`.
    var file: String? {
        if let uploadFile { return uploadFile }
        // By bytes: a mark that combines with '@' is part of the name.
        return ([json].compactMap(\.self) + data).first { $0.utf8.first == UInt8(ascii: "@") }.map {
            String(Substring($0.utf8.dropFirst()))
        }
    }

    private var bodies: Int {
        [!forms.isEmpty, json != nil, uploadFile != nil].count { $0 } + (forms.count > 1 && file != nil ? 1 : 0)
    }

    private var forms: [String] { data + dataRaw + dataUrlencode.map(Self.encoded) }

    /// Returns `name=text` with the text percent-encoded (curl(1), `--data-urlencode`).
    private static func encoded(_ part: String) -> String {
        let halves = part.halves(at: UInt8(ascii: "="))
        let text = halves?.value ?? part
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        let value = text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
        return (halves?.name ?? "").isEmpty ? value : "\(halves?.name ?? "")=\(value)"
    }

    var query: String? { sendsQuery && !forms.isEmpty ? forms.joined(separator: "&") : nil }

    /// Returns the body and its type; `nil` without one.
    func content(_ files: InputFiles) async throws -> (body: Data, type: String?)? {
        let type = json != nil ? "application/json" : uploadFile != nil ? nil : "application/x-www-form-urlencoded"
        if let file { return (try await files.bytes(of: file, limit: 1 << 30), type) }
        if let json { return (Data(json.utf8), type) }
        return forms.isEmpty || sendsQuery ? nil : (Data(forms.joined(separator: "&").utf8), type)
    }

    var hasData: Bool { bodies > 0 }
}
