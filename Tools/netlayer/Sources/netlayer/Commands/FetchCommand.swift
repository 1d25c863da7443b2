import ArgumentParser
import Foundation
import JSONText
import NetworkLayer

/// The `netlayer fetch` command: one request, its body on standard output.
struct FetchCommand: AsyncParsableCommand, RequestOptions {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Send one request and print the response's body.",
        discussion: """
            A response with any status is a success, unless --fail, --fail-with-body, --continue, --checksum, --lines or --events is \
            given: with each of these, a status other than 2xx ends the command with 1. Redirects are followed only \
            with --location.

            \(ProcessStatus.table)
            """
    )

    @Argument(help: "An absolute http or https URL.") var url: String

    @Flag(name: .shortAndLong, help: "Print the response's head before the body.") var include = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write to a file instead. The file appears only when it is complete. '-' is standard output.",
            valueName: "file")
    )
    var outputOption: String?

    @Option(
        name: [.customShort("m"), .customLong("max-time"), .customLong("timeout")],
        help: ArgumentHelp(
            "The timeout of the whole call, including redirects, retries and reconnections.",
            valueName: "seconds"
        ))
    var timeout: Double?

    @Option(
        help: ArgumentHelp(
            "The largest body to accept, decompressed. (default: 64 MiB; none with --output, --lines and --events)",
            valueName: "bytes"))
    var maxBody: Int?

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Write to a file named as the end of the URL's path.")
    var namesFile = false

    @Flag(
        name: .customLong("as-json"),
        help: "Print one JSON object: status, headers, bodyBase64, effectiveURL, error, metrics.") var asJSON = false

    @Flag(name: .shortAndLong, help: "Print what is sent and received to standard error, without secrets (over curl).")
    var verbose = false

    @Flag(name: .shortAndLong, help: "End with 1 when the status is not 2xx, without printing the body.") var fail =
        false

    @Flag(help: "The same, and print the body; no file is written.") var failWithBody = false

    @OptionGroup var delivery: DeliveryOptions

    @OptionGroup var pipeline: PipelineOptions

    @OptionGroup var cookies: CookieJarOption

    @OptionGroup var transport: TransportOption

    @OptionGroup var flags: RequestFlags

    @OptionGroup var exchange: ExchangeOptions

    @OptionGroup(title: "Connection (over curl)") var connection: ConnectionFlags

    @OptionGroup(title: "TLS (over curl)") var tls: TLSFlags

    @OptionGroup(title: "Proxy (over curl)") var proxy: ProxyFlags

    /// The file to write to; `nil` for standard output.
    private var output: String? {
        if namesFile { return String(url.prefix { !"?#".contains($0) }.split(separator: "/").last ?? "") }
        return outputOption == "-" ? nil : outputOption
    }

    func validate() throws {
        if flags.hasData, !delivery.form.isEmpty { throw ValidationError("--form excludes --data and other bodies") }
        if namesFile, outputOption != nil { throw ValidationError("--remote-name excludes --output") }
        if delivery.isSpecial, include || asJSON {
            throw ValidationError(
                "--include and --as-json exclude --continue, --checksum, --lines, --events and --curl")
        }
        if delivery.isDownload, delivery.isPrinted {
            throw ValidationError("--continue and --checksum exclude --lines, --events and --curl")
        }
        if delivery.isDownload, output == nil { throw ValidationError("--continue and --checksum need --output") }
        if output != nil, delivery.isSpecial, !delivery.isDownload {
            throw ValidationError("--output excludes --lines, --events and --curl")
        }
        if include, asJSON {
            throw ValidationError("--include and --as-json exclude one another; the JSON object contains the head")
        }
        if let maxBody, maxBody < 0 { throw ValidationError("--max-body takes bytes, 0 or more; it is \(maxBody)") }
        _ = try OptionChecks.timeout(timeout, "--timeout")
    }

    func run() async throws {
        if asJSON { return try await printJSON() }
        let request = try await request()
        if delivery.curl {
            return try await OutputWriter.standardOutput.writeLine(try await curlCommand(for: request))
        }
        let client = try await client(for: request)
        try await cookies.keepingCookies(of: client) {
            if delivery.isSpecial {
                return try await delivery.deliver(request, by: client, to: output, maximumBytes: maxBody)
            }
            try await carrying(request, by: client) { response, _ in
                // The file keeps its old content when the status is refused.
                if output != nil || fail { try check(response.head.status.code) }
                try await write(head: include || flags.head ? response.headText : [], body: response.body)
                try check(response.head.status.code)
            }
        }
    }

    /// Prints one object even if the request fails, and then exits with the status of the outcome.
    private func printJSON() async throws {
        let line: OutcomeLine
        var failure: (any Error)?
        do {
            line = try await outcomeLine()
        } catch let error as NetworkError {
            (line, failure) = (OutcomeLine(error: error), error)
        } catch is CancellationError {
            (line, failure) = (OutcomeLine(error: .cancelled), NetworkError.cancelled)
        } catch let error as ToolFailure {
            (line, failure) = (OutcomeLine(failure: error), error)
        }
        if output != nil, let status = line.status { try check(status) }
        try await write(head: line.json.line + [UInt8(ascii: "\n")], body: TransportResponse.Body(Data()))
        if let failure { throw failure }
        if let status = line.status { try check(status) }
    }

    private func outcomeLine() async throws -> OutcomeLine {
        let request = try await request()
        let client = try await client(for: request)
        return try await cookies.keepingCookies(of: client) {
            try await carrying(request, by: client) { response, url in
                let body = try await response.body.collect(upTo: request.options.maximumBodyBytes)
                return OutcomeLine(id: nil, response: response, body: body, url: url.absoluteString)
            }
        }
    }

    private func client(for request: TransportRequest) async throws -> NetworkClient {
        var client = try pipeline.client(
            over: transport.selected(), for: request.url, token: try await pipeline.token(from: InputFiles()))
        client.cookieJar = try cookies.jar()
        if let bodyLimit {
            client.interceptors.insert(BodyLimit(bytes: bodyLimit, transport: client.transport.name), at: 0)
        }
        return client
    }

    /// The largest response body that this command reads, in bytes. A download into a file has its own limit. A body
    /// that is passed on in chunks, into a file, as lines or as events, has a limit only if `--max-body` is given.
    var bodyLimit: Int? {
        if delivery.isDownload { return nil }
        let isBounded = asJSON || output == nil && !delivery.isSpecial
        return maxBody ?? (isBounded ? TransportOptions().maximumBodyBytes : nil)
    }

    /// Checks a status against `--fail`.
    /// - Throws: ``ToolFailure`` for a status that `--fail` refuses.
    private func check(_ status: Int) throws {
        guard fail || failWithBody, !(200...299).contains(status) else { return }
        let option = fail ? "--fail" : "--fail-with-body"
        throw ToolFailure(.refusedByResult, "the server responded with \(status), and \(option) expects 2xx")
    }

    /// Sends the request, and shows the progress of its body until `use` returns.
    private func carrying<Value>(
        _ request: TransportRequest, by client: NetworkClient,
        _ use: (NetworkResponse<TransportResponse.Body>, RequestURL) async throws -> Value
    ) async throws -> Value {
        // The meter would erase lines of a body that goes to the same terminal.
        let isFree = asJSON || output != nil || !Descriptor.standardOutput.isTerminal
        let meter =
            isFree && !flags.silent && Descriptor.standardError.isTerminal ? ProgressMeter(on: .standardError) : nil
        defer { meter?.clear() }
        var request = request
        request.options.progress = meter?.handler
        let response = try await client.send(request, as: .stream)
        return try await use(response, response.url ?? request.url)
    }

    private func write(head: [UInt8], body: TransportResponse.Body) async throws {
        guard let output else { return try await ResponsePrinter().print(head: head, body: body) }
        let file = try OutputFile(replacing: output)
        try file.write(head)
        for try await chunk in body { try file.write(chunk) }
        try file.finish()
    }
}
