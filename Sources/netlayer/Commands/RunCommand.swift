import ArgumentParser
import NetworkLayer

/// `netlayer run`: JSON lines in, JSON lines out.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send the requests of a file of JSON lines, and print a JSON line for each.",
        discussion: """
            A request: {"id": 1, "url": "http://127.0.0.1:8080/test"}. More keys: session, method, \
            headers [["name","value"],…], bodyBase64, options {decompress, timeoutMs, auth {scheme, user, password}, \
            range, httpVersion, maxBodyBytes, …}. Absent and null mean the default; an unknown key is an error. The \
            token of a bearer stands in 'password'.

            An answer: id, status, headers, bodyBase64, effectiveURL, error {code, message} or null, metrics. Answers \
            come in the order of completion. A line that is not a request is answered with the error 'invalidLine', an \
            option that is not carried with 'unsupported', and the rest go on. A line has at most 64 MiB.

            \(ProcessStatus.table)
            """
    )

    @Argument(help: "A file of JSON lines; - is standard input.") var file: String

    @Option(help: ArgumentHelp("The most requests in flight; reading waits for room.", valueName: "number"))
    var concurrency = 256

    @OptionGroup var transport: TransportOption

    func validate() throws { try OptionChecks.range(concurrency, 1...10_000, "--concurrency") }

    func run() async throws {
        let replay = Replay(
            transport: try transport.selected(),
            output: .standardOutput,
            concurrency: concurrency
        )
        try await replay.run(ByteSource(path: file))
    }
}
