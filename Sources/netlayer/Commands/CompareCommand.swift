import ArgumentParser
import NetworkLayer

/// The `netlayer compare` command: the same requests over both transports, side by side.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Send the same GET requests over both transports and compare.",
        discussion: """
            The transports take turns, -c requests at once in each turn, and alternate in going first. Times run \
            from the start of a request to the end of its body. The command compares the status, and the header \
            fields and the body of responses with the same status. It ignores the Date and Connection fields, the \
            order of fields, the case of their names, and everything that changes from request to request over the \
            same transport.

            \(ProcessStatus.table)
            """
    )

    @Argument(help: "Absolute http or https URLs.") var urls: [String]

    @Option(
        name: [.customShort("n"), .customLong("requests")],
        help: ArgumentHelp("Requests for each URL and transport.", valueName: "number")
    )
    var requests = 20

    @Option(
        name: [.customShort("c"), .customLong("concurrency")],
        help: ArgumentHelp("Requests at once.", valueName: "number")
    )
    var concurrency = 4

    @Option(help: ArgumentHelp("The timeout of each exchange.", valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        try OptionChecks.range(requests, 1...1_000_000, "--requests")
        try OptionChecks.range(concurrency, 1...1000, "--concurrency")
        _ = try OptionChecks.timeout(timeout, "--timeout")
    }

    func run() async throws {
        var options = TransportOptions()
        options.totalTimeout = try OptionChecks.timeout(timeout, "--timeout")
        let comparison = Comparison(
            transports: TransportKind.allCases.map(\.transport),
            requests: requests,
            concurrency: concurrency,
            options: options
        )
        let targets = try urls.map { try RequestURL($0) }
        var reports: [ComparisonReport] = []
        for target in targets {
            let report = ComparisonReport(
                url: target.description,
                observations: try await comparison.observe(target)
            )
            reports.append(report)
            if !json { try await OutputWriter.standardOutput.writeLine(report.lines.joined(separator: "\n")) }
        }
        let isAlike = reports.allSatisfy(\.isAlike)
        if json {
            let all = JSONValue.object([
                .init("urls", .array(reports.map(\.json))), .init("alike", .bool(isAlike)),
            ])
            try await OutputWriter.standardOutput.write(all.line + [UInt8(ascii: "\n")])
        }
        if !isAlike { throw ToolFailure(.refusedByResult, "") }
    }
}
