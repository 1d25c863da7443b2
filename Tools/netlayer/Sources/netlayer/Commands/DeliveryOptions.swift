import ArgumentParser
import Foundation
import JSONText
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
        try refuse(
            if: [lines, events, curl].count(where: { $0 }) > 1, "--lines, --events and --curl exclude one another")
        try refuse(if: showSecrets && !curl, "--show-secrets has no meaning without --curl")
        if let checksum, !checksum.hasPrefix("sha256:") {
            throw ValidationError("--checksum takes 'sha256:' and 64 hexadecimal digits")
        }
        for (index, part) in form.enumerated() {
            let place = "part \(index + 1) of the form"
            guard let value = part.halves(at: UInt8(ascii: "="))?.value else {
                throw ValidationError("\(place) has no '='; write it as 'name=value' or 'name=@file'")
            }
            // What curl reads as something else must not be sent as it is.
            try refuse(
                if: value.hasBytePrefix("<"), "\(place): 'name=<file' is not supported; use 'name=@file'")
            try refuse(
                if: value.hasBytePrefix("@") && [";type=", ";filename="].contains(where: part.contains),
                "\(place): ';type=' and ';filename=' are not supported; the file's name decides")
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
        let parts = form.compactMap { $0.halves(at: UInt8(ascii: "=")) }.map { name, value -> MultipartPart in
            value.hasBytePrefix("@")
                ? .file(name, path: String(Substring(value.utf8.dropFirst()))) : .field(name, value)
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
                    try await OutputWriter.standardOutput.writeLine(line)
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
