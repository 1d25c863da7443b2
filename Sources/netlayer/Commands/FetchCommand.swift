import ArgumentParser
import Foundation
import NetworkLayer

/// `netlayer fetch`: one request, its body on standard output.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Send one request and print the response's body.",
        discussion: """
            Whatever the status, a response that arrived is a success; --fail changes that. Redirects are followed \
            with --location. A body is sent without a Content-Type unless -H gives one.

            \(ProcessStatus.table)
            """
    )

    @Argument(help: "An absolute http or https URL.") var url: String

    @Option(name: [.customShort("X"), .customLong("request")], help: "The method. (default: GET, or POST with a body)")
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header field, 'Name: value'. May be repeated.", valueName: "field")
    )
    var headers: [String] = []

    @Option(name: .shortAndLong, parsing: .unconditional, help: "The request's body.") var data: String?

    @Option(help: ArgumentHelp("A file with the request's body; - is standard input.", valueName: "file"))
    var dataFile: String?

    @Flag(name: .shortAndLong, help: "Print the response's head before the body.") var include = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to a file instead. It appears when it is complete, or not at all.", valueName: "file")
    )
    var output: String?

    @Option(help: ArgumentHelp("The longest time for the whole exchange.", valueName: "seconds"))
    var timeout: Double?

    @Option(help: ArgumentHelp("The largest body to accept, decompressed. (default: 64 MiB)", valueName: "bytes"))
    var maxBody: Int?

    @Flag(help: "Do not ask for compression, and do not decompress.") var raw = false

    @Option(
        help: ArgumentHelp(
            "The protocol: 1.0, 1.1, 2, 2-prior-knowledge or 3. (default: the transport's choice)", valueName: "version"
        ))
    var http: HTTPVersionArgument?

    @Flag(help: "Print one JSON object: status, headers, bodyBase64, effectiveURL, error, metrics.") var json = false

    @Flag(help: "Exit with 1 when the status is not 2xx. The body is printed all the same.") var fail = false

    @OptionGroup var exchangeOptions: ExchangeOptions

    @OptionGroup var delivery: DeliveryOptions

    @OptionGroup var pipeline: PipelineOptions

    @OptionGroup var transport: TransportOption

    /// The largest body that ``dataFile`` may hold, in bytes.
    static let maximumRequestBytes = 1 << 30

    func validate() throws {
        guard [data != nil, dataFile != nil, !delivery.form.isEmpty].count(where: { $0 }) <= 1 else {
            throw ValidationError("--data, --data-file and --form exclude one another")
        }
        if delivery.isSpecial, include || json {
            throw ValidationError(
                "--include and --json go with none of --continue, --checksum, --lines, --events and --curl")
        }
        if delivery.isDownload, output == nil { throw ValidationError("--continue and --checksum need --output") }
        if output != nil, delivery.isSpecial, !delivery.isDownload {
            throw ValidationError("--output goes with none of --lines, --events and --curl")
        }
        if include, json {
            throw ValidationError("--include and --json exclude one another; JSON holds the head anyway")
        }
        if let maxBody, maxBody < 0 { throw ValidationError("--max-body takes bytes, 0 or more; it is \(maxBody)") }
        _ = try OptionChecks.timeout(timeout)
        for (index, header) in headers.enumerated() where !header.utf8.contains(UInt8(ascii: ":")) {
            // The text is not repeated: it may be a secret whose name was forgotten.
            throw ValidationError("header field \(index + 1) has no ':'; write it as 'Name: value'")
        }
    }

    func run() async throws {
        if delivery.isSpecial { return try await deliver() }
        let answer: Answer
        do {
            answer = try await exchange()
        } catch {
            if json, let failure = error as? NetworkError {
                try await write(head: AnswerLine(error: failure).json.line + [UInt8(ascii: "\n")], body: nil)
            }
            throw error
        }
        if json {
            let line = AnswerLine(id: nil, response: answer.response, body: try await answer.body(), url: answer.url)
            try await write(head: line.json.line + [UInt8(ascii: "\n")], body: nil)
        } else {
            try await write(head: include ? answer.headText : [], body: answer.response.body)
        }
        if fail, answer.response.head.status.kind != .successful {
            throw ToolFailure(
                .refusedByResult,
                "the server answered \(answer.response.head.status.code), and --fail wants 2xx"
            )
        }
    }

    private func deliver() async throws {
        let request = try await request()
        if delivery.curl {
            let command = request.curlCommand(secrets: delivery.showSecrets ? .revealed : .redacted)
            return try await OutputWriter.standardOutput.writeLine(command)
        }
        let client = try await pipeline.client(over: transport.selected(), for: request.url)
        try await delivery.deliver(request, by: client, to: output)
        try pipeline.save(client.cookies)
    }

    private func exchange() async throws -> Answer {
        let transport = try transport.selected()
        let meter = Descriptor.standardError.isTerminal ? ProgressMeter(on: .standardError) : nil
        var request = try await request()
        request.options.progress = meter?.handler
        defer { meter?.clear() }
        let client = try await pipeline.client(over: transport, for: request.url)
        let (response, call) = try await client.carry(request)
        try pipeline.save(client.cookies)
        return Answer(
            url: (call.redirects.last?.to ?? request.url).absoluteString,
            limit: request.options.maximumBodyBytes,
            response: response
        )
    }

    private func request() async throws -> TransportRequest {
        var request = try TransportRequest(to: url)
        for header in headers {
            let parts = header.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            request.headerFields.append(
                try HTTPField(checking: parts[0], value: parts.count > 1 ? parts[1] : "")
            )
        }
        if let cookies = pipeline.cookieField {
            request.headerFields.append(try HTTPField(checking: "Cookie", value: cookies))
        }
        if let data {
            request.body = .bytes(Data(data.utf8))
        } else if let dataFile {
            request.body = .bytes(Data(try await ByteSource(path: dataFile).readAll(limit: Self.maximumRequestBytes)))
        } else if let form = try delivery.content() {
            request.body = form.body
            if let type = form.contentType, !request.headerFields.contains(.contentType) {
                request.headerFields.append(try HTTPField(checking: "Content-Type", value: type))
            }
        }
        request.method = try method.map { try HTTPMethod(checking: $0) } ?? (request.body == nil ? .get : .post)
        request.options.totalTimeout = try OptionChecks.timeout(timeout)
        request.options.decompress = !raw
        if let maxBody { request.options.maximumBodyBytes = maxBody }
        if let http { request.options.httpVersion = http.version }
        try exchangeOptions.apply(to: &request)
        return request
    }

    private func write(head: [UInt8], body: ResponseBody?) async throws {
        guard let output else {
            return try await ResponsePrinter().print(head: head, body: body ?? ResponseBody(Data()))
        }
        let file = try OutputFile(replacing: output)
        try file.write(head)
        if let body { for try await chunk in body { try file.write(chunk) } }
        try file.finish()
    }
}

/// A response as `fetch` prints it.
private struct Answer {
    var url: String
    var limit: Int
    var response: TransportResponse

    func body() async throws -> Data { try await response.body.collect(upTo: limit) }

    /// The head as HTTP/1.1 writes it, with what is known of the protocol and the reason.
    var headText: [UInt8] {
        let status = response.head.status
        let version = response.metrics.httpVersion ?? "1.1"
        var text = "HTTP/\(version) \(status.code)\(status.reasonPhrase.isEmpty ? "" : " " + status.reasonPhrase)\r\n"
        for field in response.head.headerFields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}

/// `--http`.
enum HTTPVersionArgument: String, ExpressibleByArgument, CaseIterable {
    case http1_0 = "1.0"
    case http1_1 = "1.1"
    case http2 = "2"
    case http2PriorKnowledge = "2-prior-knowledge"
    case http3 = "3"

    var version: TransportOptions.HTTPVersion {
        switch self {
        case .http1_0: .http1_0
        case .http1_1: .http1_1
        case .http2: .http2
        case .http2PriorKnowledge: .http2PriorKnowledge
        case .http3: .http3
        }
    }
}
