import FoundationEssentials
import HTTPTypes

extension TransportRequest {
    /// Whether a curl command shows values that may be secrets. There is no third way, so that this enum stays closed.
    public enum CurlSecrets: Sendable, Hashable {
        /// Replaces them with `REDACTED`: users and passwords, ``SecretFields`` and ``TransportOptions/secretFields``,
        /// the values of the query and the queries of other URLs, the path of a server for DNS over HTTPS, and the
        /// body. Control characters are made visible. This form is safe for logs, but the command sends a different
        /// request.
        case redacted
        /// Shows all of them. Only for readers who may see them.
        case revealed
    }

    /// Returns the request as a command for a POSIX shell that sends the same bytes with curl.
    ///
    /// ```swift
    /// print(try GetUsers().data.curlCommand(secrets: .revealed))
    /// // curl -q --globoff --path-as-is --compressed -H 'Accept: */*' … http://127.0.0.1:8080/users
    /// ```
    ///
    /// Any bytes are quoted safely. A body that is not text, or larger than 64 KiB, is piped in from `printf`. A body
    /// of more than 1 MiB, a file or a stream is left to standard input (`--data-binary @-`), as a comment at the end
    /// of the command says. Settings that curl has no option for (certificates in memory, a server name of TLS, the
    /// idle timeout, an address policy) are left out.
    ///
    /// With Digest credentials, curl sends a request with a body first without it; with AWS credentials it signs by
    /// itself, other than a transport does. A comment at the end of the command says both. curl below 8.8 decodes
    /// percent signs in the user and the password of a proxy.
    public func curlCommand(secrets: CurlSecrets = .redacted) -> String {
        curlCommand(secrets: secrets, adding: [])
    }

    /// Returns the request as a command with additional options; see ``curlCommand(secrets:)``.
    /// - Parameters:
    ///   - secrets: Whether the command shows secrets.
    ///   - words: curl's options beyond one exchange, such as `--location`. They are shown as they are.
    public func curlCommand(secrets: CurlSecrets, adding words: [String]) -> String {
        CurlCommand(request: self, isRevealed: secrets == .revealed, words: words).text
    }
}

extension NetworkClient {
    /// Returns the first request of a call as a curl command, with the client's base URL, header fields, options and
    /// encoder; see ``TransportRequest/curlCommand(secrets:)``. What interceptors, the cookie jar and a
    /// download to a file add is left out.
    /// - Parameters:
    ///   - request: Any description of a request.
    ///   - form: What the body becomes, which decides on `Accept`. Default: `.data`.
    ///   - secrets: Whether the command shows secrets. Default: no.
    /// - Throws: ``NetworkError`` for a request that no transport would send.
    public func curlCommand<Body>(
        _ request: some RequestConvertible, as form: ResponseForm<Body> = .data,
        secrets: TransportRequest.CurlSecrets = .redacted
    ) throws -> String {
        var options = options
        if form.isEndless { options.totalTimeout = nil }
        var request = try self.request(of: request.data, options: options)
        request.addMissing(form.fields(self))
        try request.check()
        return request.curlCommand(secrets: secrets)
    }
}

extension RequestConvertible {
    /// Returns the request as a curl command; see ``TransportRequest/curlCommand(secrets:)``. It has nothing of a
    /// client: ``NetworkClient/curlCommand(_:as:secrets:)`` has what a client adds.
    /// - Throws: ``NetworkError`` for a request that no transport would send.
    public func curlCommand(
        options: TransportOptions = TransportOptions(),
        secrets: TransportRequest.CurlSecrets = .redacted
    ) throws -> String {
        let request = try data.transportRequest(options: options)
        try request.check()
        return request.curlCommand(secrets: secrets)
    }
}

struct CurlCommand {
    let request: TransportRequest
    let isRevealed: Bool
    private let words: [String]
    private let wireBody: TransportRequest.Body?

    init(request: TransportRequest, isRevealed: Bool, words: [String] = []) {
        self.request = request
        self.isRevealed = isRevealed
        self.words = words
        // Only memory can fail here, and a command with the uncompressed body is better than none.
        wireBody = (try? request.describedWireBody()) ?? request.body
    }

    private static let maximumWordBytes = 65_536
    private static let maximumPrintedBytes = 1 << 20
    static let redacted = "REDACTED"

    var text: String {
        let body = bodyArguments
        // -q ignores ~/.curlrc; --globoff and --path-as-is leave brackets and dots in the URL alone.
        var words = ["curl", "-q", "--globoff"]
        // curl 8.14 and later don't sign a path that they may not normalize; this one has no segments of dots left.
        if case .awsSigV4 = request.options.authentication {} else { words.append("--path-as-is") }
        words += methodArguments
        if request.options.decompress { words.append("--compressed") }
        for line in headerLines { words += ["-H", line] }
        words += optionArguments + self.words + body.arguments + [url]
        let command = words.map { ShellText.word($0) }.joined(separator: " ")
        let notes = [body.note, credentialsNote].compactMap(\.self)
        return (body.source.map { $0 + " | " } ?? "") + command
            + (notes.isEmpty ? "" : "  # " + notes.joined(separator: "; "))
    }

    func secret(_ value: String) -> String { isRevealed ? value : Self.redacted }

    func credentials(_ user: String, _ password: String) -> String { secret("\(user):\(password)") }

    /// Returns a value without secrets, but with whatever else the caller has put into it.
    func plain(_ value: String) -> String { isRevealed ? value : Redaction.visible(value) }

    var redaction: Redaction { Redaction(mark: Self.redacted, secrets: request.options.secretFields) }

    // MARK: Method and URL

    /// Whether libcurl sees a body, even an empty one: everything but a GET without one, and HEAD.
    private var posts: Bool { request.method != .head && (request.method != .get || request.body != nil) }

    private var methodArguments: [String] {
        switch request.method {
        case .head: ["--head"]
        case .get where !posts, .post: []
        default: ["-X", request.method.rawValue]
        }
    }

    private var url: String {
        guard !isRevealed, let query = request.url.query else { return request.url.absoluteString }
        let hidden = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { part in
            part.isEmpty ? "" : (Self.name(of: part) ?? "") + Self.redacted
        }
        return request.url.replacingQuery(hidden.joined(separator: "&")).absoluteString
    }

    /// Returns the name of a parameter with its `=`; `nil` without one.
    private static func name(of part: Substring.UTF8View) -> String? {
        let name = part.prefix { $0 != UInt8(ascii: "=") }
        let value = part.dropFirst(name.count)
        guard name.count <= 40, value.contains(where: { $0 != UInt8(ascii: "=") }) else { return nil }
        return String(Substring(name)) + "="
    }

    // MARK: Header fields

    private var headerLines: [String] {
        let fields = request.wireFields
        var lines = fields.map { field in
            if field.value.isEmpty { return "\(field.name.rawName);" }
            return "\(field.name.rawName): \(isRevealed ? field.value : redaction.value(of: field))"
        }
        // Keeps curl from adding its form type and the wait for '100 Continue'.
        if posts, !fields.contains(.contentType) { lines.append("Content-Type:") }
        if posts, !fields.contains(.expect) { lines.append("Expect:") }
        if posts, let body = wireBody, body.length == nil { lines.append("Transfer-Encoding: chunked") }
        return lines
    }

    // MARK: Body

    private var bodyArguments: (source: String?, arguments: [String], note: String?) {
        guard posts else { return (nil, [], nil) }
        guard let body = wireBody else { return (nil, ["--data-raw", ""], nil) }
        guard let bytes = body.knownBytes else {
            return (nil, ["--data-binary", "@-"], "standard input is the body: a stream\(Self.sized(body.length))")
        }
        if !isRevealed {
            return (
                nil, ["--data-raw", bytes.isEmpty ? "" : Self.redacted], bytes.isEmpty ? nil : "the body is left out"
            )
        }
        if bytes.count <= Self.maximumWordBytes, let text = ShellText.typeable(bytes) {
            return (nil, ["--data-raw", text], nil)
        }
        guard bytes.count <= Self.maximumPrintedBytes else {
            return (nil, ["--data-binary", "@-"], "standard input is the body\(Self.sized(bytes.count))")
        }
        return (ShellText.printf(bytes), ["--data-binary", "@-"], nil)
    }

    private var credentialsNote: String? {
        switch request.options.authentication {
        case .awsSigV4:
            return "curl's own signature is wrong for a query that is not sorted, and has no hash of the body"
        // With Basic allowed too, curl sends the body at once.
        case .anySafe where request.url.scheme != "http": return nil
        case .digest, .anySafe:
            return wireBody.map { $0.length != 0 } ?? false
                ? "before the server's challenge, curl sends an empty body" : nil
        case nil, .basic, .bearer: return nil
        }
    }

    private static func sized(_ length: Int?) -> String { length.map { " of \($0) bytes" } ?? "" }
}

package enum ShellText {
    /// Returns one word: unchanged if it has no character with a meaning to a shell, else in single quotes.
    package static func word(_ text: String) -> String {
        if text.unicodeScalars.contains(where: { $0.isInvisible && $0 != "\n" }) {
            // A shell drops the line feeds at the end of a command's output.
            let lineFeeds = text.utf8.reversed().prefix { $0 == 0x0A }.count
            let command = printf(Data(text.utf8.dropLast(lineFeeds)))
            return "\"$(\(command))\"" + (lineFeeds > 0 ? word(String(repeating: "\n", count: lineFeeds)) : "")
        }
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_./:,+@%".utf8.contains($0) }
        if isPlain { return text }
        // By bytes: a quote followed by a combining mark is one Character, which does not compare equal to a quote.
        let pieces = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + String(decoding: Array(pieces.joined(separator: "'\\''".utf8)), as: UTF8.self) + "'"
    }

    /// Returns the text of bytes that fit in a word and that a terminal takes as typed: UTF-8 without control
    /// characters other than line feeds.
    static func typeable(_ bytes: Data) -> String? {
        guard bytes.allSatisfy({ !$0.isControl || $0 == 0x0A }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    static func printf(_ bytes: Data) -> String {
        var format: [UInt8] = []
        format.reserveCapacity(bytes.count * 2)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"): format += "%%".utf8
            case UInt8(ascii: "-") where index == 0, UInt8(ascii: "'"), UInt8(ascii: "\\"), 0..<0x20, 0x7F...0xFF:
                format += [UInt8(ascii: "\\"), 0x30 + byte >> 6, 0x30 + byte >> 3 & 7, 0x30 + byte & 7]
            default: format.append(byte)
            }
        }
        return "printf '" + String(decoding: format, as: UTF8.self) + "'"
    }
}
