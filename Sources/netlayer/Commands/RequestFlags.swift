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

    @Option(
        name: [.customShort("d"), .long, .customLong("data-binary")], parsing: .unconditional,
        help: ArgumentHelp(
            "The request's body; '@file' for a file's bytes, '@-' for standard input.", valueName: "data"))
    var data: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The request's body as it is, a leading '@' too.", valueName: "data"))
    var dataRaw: String?

    @Flag(help: "Do not request compression, and do not decompress.") var raw = false

    /// The file whose bytes are the body, by `--data @file`.
    var dataFile: String? {
        // By bytes: a mark that combines with '@' is part of the name.
        data.flatMap { $0.utf8.first == UInt8(ascii: "@") ? String(Substring($0.utf8.dropFirst())) : nil }
    }

    func validate() throws {
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
        var request = try TransportRequest(to: url)
        for header in flags.headers {
            let (name, value) = header.splitAtColon
            let isEmpty = !header.utf8.contains(UInt8(ascii: ":"))
            try request.headerFields.append(checking: isEmpty ? String(header.dropLast()) : name, value: value)
        }
        if let cookies { request.headerFields.append(try HTTPField(checking: "Cookie", value: cookies)) }
        if let file = flags.dataFile {
            request.body = .bytes(try await files.bytes(of: file, limit: maximumBytesOfDataFile))
        } else if let text = flags.data ?? flags.dataRaw {
            request.body = .bytes(Data(text.utf8))
        } else if let form {
            request.body = form.body
            if let type = form.contentType, !request.headerFields.contains(.contentType) {
                request.headerFields.append(try HTTPField(checking: "Content-Type", value: type))
            }
        }
        let method = try flags.method.map { try HTTPRequest.Method(checking: $0) }
        request.method = method ?? (request.body == nil ? .get : .post)
        request.options.decompress = !flags.raw
        try connection.apply(to: &request.options)
        tls.apply(to: &request.options)
        try proxy.apply(to: &request.options)
        try exchange.apply(to: &request)
        return request
    }
}
