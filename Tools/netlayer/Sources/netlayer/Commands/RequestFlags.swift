import ArgumentParser
import Foundation
import NetworkLayer

/// The options that describe a request: method, header fields and body. ``RequestOptions`` has those of its exchange.
struct RequestFlags: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: "The method. (default: GET, or POST with a body)"
    )
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header field, 'Name: value'. May be repeated.", valueName: "field")
    )
    var headers: [String] = []

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Request the head alone.") var head = false

    @Option(
        name: [.customShort("A"), .long],
        help: ArgumentHelp("The field User-Agent, in place of the tool's.", valueName: "name"))
    var userAgent: String?

    @Option(name: [.customShort("e"), .long], help: ArgumentHelp("The field Referer.", valueName: "url"))
    var referer: String?

    @Option(
        name: [.customShort("d"), .long, .customLong("data-binary"), .customLong("data-ascii")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The request's body, as a form; several are joined by '&'. '@file' for a file's bytes, '@-' for standard "
                + "input, alone.", valueName: "data"))
    var data: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The same as it is, a leading '@' too.", valueName: "data"))
    var dataRaw: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The same, percent-encoded: 'name=text', '=text' or 'text'.", valueName: "data"))
    var dataUrlencode: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A body of JSON, and the fields for JSON; '@file' for a file's bytes.", valueName: "json"))
    var json: String?

    @Flag(name: [.customShort("G"), .customLong("get")], help: "Send the data as a query.") var sendsQuery = false

    @Option(
        name: [.customShort("T"), .long],
        help: ArgumentHelp("Upload a file by PUT; '-' for standard input.", valueName: "file"))
    var uploadFile: String?

    @Flag(help: "Do not request compression, and do not decompress.") var raw = false

    /// What the tool does anyway: it asks for compression, and prints nothing besides the response.
    @Flag(help: .hidden) var compressed = false
    @Flag(name: .shortAndLong, help: .hidden) var silent = false
    @Flag(name: [.customShort("S"), .long], help: .hidden) var showError = false

    /// The file whose bytes are the body, by `--data @file`, `--json @file` or `--upload-file`.
    var file: String? {
        if let uploadFile { return uploadFile }
        // By bytes: a mark that combines with '@' is part of the name.
        return ([json].compactMap(\.self) + data).first { $0.utf8.first == UInt8(ascii: "@") }.map {
            String(Substring($0.utf8.dropFirst()))
        }
    }

    /// The number of bodies that the options ask for.
    private var bodies: Int {
        [!forms.isEmpty, json != nil, uploadFile != nil].count { $0 } + (forms.count > 1 && file != nil ? 1 : 0)
    }

    /// The parts of a body that is a form.
    private var forms: [String] { data + dataRaw + dataUrlencode.map(Self.encoded) }

    /// Returns `name=text` with the text percent-encoded (curl(1), `--data-urlencode`).
    private static func encoded(_ part: String) -> String {
        let halves = part.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(Substring(halves[halves.count - 1]))
        let value = text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
        return halves.count == 1 || halves[0].isEmpty ? value : "\(Substring(halves[0]))=\(value)"
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// The data as the query of a URL, by `--get`.
    var query: String? { sendsQuery && !forms.isEmpty ? forms.joined(separator: "&") : nil }

    /// Returns the body and its type; `nil` without one.
    func content(_ files: InputFiles) async throws -> (body: Data, type: String?)? {
        let type = json != nil ? "application/json" : uploadFile != nil ? nil : "application/x-www-form-urlencoded"
        if let file { return (try await files.bytes(of: file, limit: maximumBytesOfDataFile), type) }
        if let json { return (Data(json.utf8), type) }
        return forms.isEmpty || sendsQuery ? nil : (Data(forms.joined(separator: "&").utf8), type)
    }

    /// Whether there is a body, or data for a query.
    var hasData: Bool { bodies > 0 }

    func validate() throws {
        guard bodies <= 1 else {
            throw ValidationError(
                "--data, --json and --upload-file exclude one another, and a file is the only part of a body")
        }
        if sendsQuery, forms.isEmpty || file != nil { throw ValidationError("--get needs --data that is no file") }
        if head, method != nil || hasData && !sendsQuery {
            throw ValidationError("--head excludes --request and a body")
        }
        // A name before a ';' is curl's for a field without a value.
        for (index, header) in headers.enumerated()
        where !header.utf8.contains(UInt8(ascii: ":")) && header.utf8.last != UInt8(ascii: ";") {
            // The message does not repeat the text: it may be a secret without its name.
            throw ValidationError("header field \(index + 1) has no ':'; write it as 'Name: value'")
        }
    }
}

/// The options of a command that describe requests.
///
/// Each command has these groups itself: within another group they would multiply the time that a debug build needs to
/// parse, because ArgumentParser checks each group within each check of the group around it.
protocol RequestOptions {
    var flags: RequestFlags { get }
    var exchange: ExchangeOptions { get }
    var connection: ConnectionFlags { get }
    var tls: TLSFlags { get }
    var proxy: ProxyFlags { get }
    var pipeline: PipelineOptions { get }
}

/// The largest body that `--data @file` may name, in bytes.
private let maximumBytesOfDataFile = 1 << 30

extension RequestOptions {
    /// Returns the request that the options describe.
    /// - Parameters:
    ///   - form: The body in place of `--data`.
    ///   - cookies: The value of the Cookie field.
    ///   - files: Reads the file of `--data`.
    /// - Throws: ``NetworkError`` for a request that can't be sent; ``ToolFailure`` for a file that can't be read.
    func request(
        to url: String, form: RequestContent.Encoded? = nil, cookies: String? = nil, files: InputFiles
    ) async throws -> TransportRequest {
        var request = try TransportRequest(to: flags.query.map { Self.adding($0, to: url) } ?? url)
        for header in flags.headers {
            let (name, value) = header.splitAtColon
            let isEmpty = !header.utf8.contains(UInt8(ascii: ":"))
            try request.headerFields.append(checking: isEmpty ? String(header.dropLast()) : name, value: value)
        }
        if let cookies { request.headerFields.append(try HTTPField(checking: "Cookie", value: cookies)) }
        func add(_ name: String, _ value: String?) throws {
            guard let value, let name = HTTPField.Name(name), !request.headerFields.contains(name) else { return }
            request.headerFields.append(try HTTPField(checking: name.rawName, value: value))
        }
        try add("User-Agent", flags.userAgent)
        try add("Referer", flags.referer)
        if let content = try await flags.content(files) {
            request.body = .bytes(content.body)
            try add("Content-Type", content.type)
            if flags.json != nil { try add("Accept", content.type) }
        } else if let form {
            request.body = form.body
            try add("Content-Type", form.contentType)
        }
        let method = try flags.method.map { try HTTPRequest.Method(checking: $0) }
        let usual = flags.head ? HTTPRequest.Method.head : flags.uploadFile != nil ? .put : .post
        request.method = method ?? (request.body == nil && !flags.head ? .get : usual)
        request.options.decompress = !flags.raw
        try connection.apply(to: &request.options)
        tls.apply(to: &request.options)
        try proxy.apply(to: &request.options)
        try exchange.apply(to: &request)
        return request
    }

    /// Returns a URL with more of a query.
    private static func adding(_ query: String, to url: String) -> String {
        let start = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        let mark = start.contains(UInt8(ascii: "?")) ? "&" : "?"
        return String(Substring(start)) + mark + query + String(Substring(url.utf8.dropFirst(start.count)))
    }
}
