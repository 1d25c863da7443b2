import ArgumentParser
import NetworkLayer
import NetworkRecording

struct RecordCommand: AsyncParsableCommand, RequestOptions {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Send requests, and write their exchanges to a HAR file.",
        discussion: """
            The requests are sent one after another. Each exchange is recorded, those of redirects too, with its \
            header fields, bodies, chunks, trailers, times and failures. Secrets are left out: values of header fields, query \
            parameters, form fields and JSON members with a secret name. So are all other bodies, in which secrets \
            have no names: --all-bodies records them. Read the file before you share it: a secret under another name \
            is in it.

            \(ProcessStatus.table)
            """)

    @Argument(help: "The HAR file to write. It must not exist.") var file: String

    @OptionGroup var sources: RequestSources

    @OptionGroup var flags: RequestFlags

    @OptionGroup(title: "Connection, TLS and proxy (over curl)") var wireFlags: WireFlags

    @Flag(help: "Replace the file if it exists.") var force = false

    @Option(help: .init("The timeout of each request.", valueName: "seconds")) var timeout = 30.0

    @Option(help: .init("The part of each body to record. (default: 1 MiB)", valueName: "bytes"))
    var maxRecorded = Recording.maximumBodyBytes

    @Flag(help: "Record texts, pages, multipart bodies and files too, with any secret in them.") var allBodies = false

    @OptionGroup var transport: TransportOption

    func validate() throws {
        try refuse(if: file.contains("://"), "the file comes first: 'netlayer record FILE URL'")
        try refuse(if: sources.isEmpty, "give URLs, --input or --from-curl")
        try sources.check(with: flags)
        _ = try OptionChecks.timeout(timeout, "--timeout")
        try OptionChecks.range(maxRecorded, 0...(1 << 30), "--max-recorded")
    }

    func run() async throws {
        let requests = try await sources.requests(with: self, timeout: timeout, files: InputFiles())
        var options = RecordingTransport.Options()
        options.maximumBodyBytes = maxRecorded
        if allBodies { options.bodies = .all }
        let recording = try RecordingFile(file, overwrites: force)
        let recorder = RecordingTransport(try transport.selected(), to: recording, options: options)
        var failed = 0
        for source in requests {
            for _ in 0..<source.weight {
                do {
                    var client = try source.client(recorder, source.request.url)
                    client.validation = .any
                    let response = try await client.send(source.request, as: .stream)
                    for try await _ in response.body {}
                    try await say("\(response.status.code) \(source.name)")
                } catch let error as NetworkError where error.code != .cancelled {
                    failed += 1
                    try await say("\(error.code.rawValue) \(source.name): \(error.message)")
                }
            }
        }
        try await recording.close()
        try await say("\(recording.writtenCount) exchanges are in \(file)")
        if recording.leftOutCount > 0 {
            throw ToolFailure(.file, "\(recording.leftOutCount) exchanges are not in \(file): it has its largest size")
        }
        if failed > 0 { throw ToolFailure(.refusedByResult, "\(failed) of the requests failed") }
    }

    private func say(_ line: String) async throws {
        try await OutputWriter.standardOutput.writeLine(TerminalText.visible(line))
    }
}
