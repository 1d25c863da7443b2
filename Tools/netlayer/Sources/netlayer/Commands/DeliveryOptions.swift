import ArgumentParser
import Foundation
import NetworkLayer

/// The options of `fetch` that say how the request is sent and the response delivered, other than printing it: a form,
/// a file that is resumed and checked, lines, events, a curl command.
struct DeliveryOptions: ParsableArguments {
    @Option(
        name: [.customShort("F"), .customLong("form")],
        parsing: .unconditionalSingleValue,
        help: .init(
            "A part of a multipart form: 'name=value', or 'name=@file' for a file. May be repeated.", valueName: "part")
    )
    var form: [String] = []

    @Flag(
        name: [.customShort("C"), .customLong("continue")],
        help: "With --output: resume an interrupted download (FILE.partial), if the file is still the same."
    )
    var goesOn = false

    @Option(help: .init("With --output: the expected checksum of the file, 'sha256:…'.", valueName: "checksum"))
    var checksum: String?

    @Flag(help: "Print each line as soon as it arrives.") var lines = false

    @Flag(help: "Read server-sent events, reconnect when the stream breaks, and print each event as a line of JSON.")
    var events = false

    @Flag(help: "Print the request as a curl command instead of sending it; secrets and the body are left out.")
    var curl = false

    @Flag(help: "With --curl: print secrets and the body too.") var showSecrets = false

    func validate() throws {
        if [lines, events, curl].count(where: { $0 }) > 1 {
            throw ValidationError("--lines, --events and --curl exclude one another")
        }
        if showSecrets, !curl { throw ValidationError("--show-secrets has no meaning without --curl") }
        if let checksum, !checksum.hasPrefix("sha256:") {
            throw ValidationError("--checksum takes 'sha256:' and 64 hexadecimal digits")
        }
        for (index, part) in form.enumerated() where !part.utf8.contains(UInt8(ascii: "=")) {
            throw ValidationError("part \(index + 1) of the form has no '='; write it as 'name=value' or 'name=@file'")
        }
        // What curl reads as something else must not be sent as it is.
        for (index, part) in form.enumerated() {
            let value = part.utf8.drop { $0 != UInt8(ascii: "=") }.dropFirst()
            if value.first == UInt8(ascii: "<") {
                throw ValidationError("part \(index + 1) of the form: 'name=<file' is not supported; use 'name=@file'")
            }
            if value.first == UInt8(ascii: "@"), [";type=", ";filename="].contains(where: part.contains) {
                throw ValidationError(
                    "part \(index + 1) of the form: ';type=' and ';filename=' are not supported; the file's name decides"
                )
            }
        }
    }

    /// Whether the response is not printed as it arrives.
    var isSpecial: Bool { isPrinted || isDownload }

    /// Whether the command prints something other than the body.
    var isPrinted: Bool { lines || events || curl }

    /// Whether the library's own download writes the file.
    var isDownload: Bool { goesOn || checksum != nil }

    func content() throws -> RequestContent.Encoded? {
        guard !form.isEmpty else { return nil }
        let parts = form.map { part -> MultipartPart in
            // Split by bytes: a combining mark after '=' or '@' merges with it into another Character.
            let names = part.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (String(Substring(names[0])), Substring(names[1]))
            guard value.utf8.first == UInt8(ascii: "@") else { return .field(name, String(value)) }
            return .file(name, path: String(Substring(value.utf8.dropFirst())))
        }
        return try RequestContent.multipart(parts).encoded()
    }

    func deliver(_ request: TransportRequest, by client: NetworkClient, to output: String?, maximumBytes: Int?)
        async throws
    {
        if events {
            try await printEvents(of: request, by: client)
        } else if lines {
            for try await line in try await client.send(request, as: .lines(invalid: .replaced)).body {
                try await OutputWriter.standardOutput.writeLine(
                    Descriptor.standardOutput.isTerminal ? TerminalText.visible(line) : line)
            }
        } else if let output {
            try await download(request, by: client, to: output, maximumBytes: maximumBytes)
        }
    }

    /// A stream of events has no end of its own, so the total timeout is enforced here.
    private func printEvents(of request: TransportRequest, by client: NetworkClient) async throws {
        let call = NetworkClient.Call(totalTimeout: request.options.totalTimeout)
        do {
            try await call.withinDeadline {
                for try await event in try await client.send(request, as: .events).body {
                    let line = JSONValue.object([
                        .init("id", .string(event.id)), .init("type", .string(event.type)),
                        .init("data", .string(event.data)),
                    ])
                    try await OutputWriter.standardOutput.write(line.line + [UInt8(ascii: "\n")])
                }
            }
        } catch let error as NetworkError {
            throw error.during(request, transport: client.transport.name, elapsed: call.elapsed)
        }
    }

    private func download(
        _ request: TransportRequest, by client: NetworkClient, to output: String, maximumBytes: Int?
    ) async throws {
        _ = try OutputFile.destination(of: output)
        let line = ProgressLine.ofBody()
        defer { line?.clear() }
        var options = DownloadedFile.Options()
        options.resumes = goesOn
        if let maximumBytes { options.maximumBytes = maximumBytes }
        options.checksum = checksum.map { .sha256(String($0.dropFirst("sha256:".count))) }
        options.progress = line?.handler
        let file = try await client.send(request, as: .file(output, options: options)).body
        if file.resumedFrom > 0 {
            try await OutputWriter.standardError.writeLine(
                "netlayer: resumed at byte \(file.resumedFrom) of \(file.bytes)")
        }
    }
}
