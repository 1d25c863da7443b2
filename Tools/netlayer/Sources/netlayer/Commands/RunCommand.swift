import ArgumentParser
import NetworkLayer

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send the requests of a file of JSON lines, and print a JSON line for each.",
        discussion: """
            A request: {"id": 1, "url": "http://127.0.0.1:8080/test"}. More keys: session, method, \
            headers [["name","value"],…], bodyBase64, options {decompress, timeoutMs, auth {scheme, user, password}, \
            range, httpVersion, maxBodyBytes, …}. A key that is absent or null has its default; an unknown key is an \
            error. A bearer token goes into 'password'.

            A result: id, status, headers, bodyBase64, effectiveURL, error {code, message} or null, metrics. Results \
            are in the order of completion. A line that is not a request has the error 'invalidLine', an option that \
            the transport does not support has the error 'unsupported', and the other lines continue. A line has at \
            most 64 MiB.

            \(ProcessStatus.table)
            """
    )

    @Argument(help: "A file of JSON lines; - is standard input.") var file: String

    @Option(help: .init("The most requests in flight; beyond it, reading pauses.", valueName: "number"))
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
