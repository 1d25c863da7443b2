import ArgumentParser
import Foundation
import JSONText
import NetworkComparison
import NetworkLayer

struct CompareCommand: AsyncParsableCommand, RequestOptions {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Send the same requests over several transports, and compare times, CPU and responses.",
        discussion: """
            Each arm has processes of its own, one after another, and a second copy of the first arm shows how much \
            two equal arms differ. The arms take turns in random order; two never run at once. With --rate they send \
            at once: each intended start is one arm's, by chance. Times run from the \
            start of a request (with --rate, from its intended start) to the end of its body. A verdict is given \
            where the interval does not contain 'equal' and the difference is larger than that between the two \
            copies. Parts of the responses that change from request to request over one arm are set aside, part by \
            part.

            \(ProcessStatus.table)
            """
    )

    @Option(
        help: .init(
            "A program, for 'sh -c', to run under each arm's \(TransportKind.variable) in place of requests.",
            valueName: "command"))
    var exec: String?

    @Option(
        help: .init(
            "An arm: 'curl', 'urlsession', 'curl:http=2', 'curl:loops=2', 'curl:libcurl=FOLDER', "
                + "'curl:shadow=urlsession@1%', with a name of its own 'curl:loops=2,name=two'. May be repeated. "
                + "(default: curl and urlsession)",
            valueName: "arm"),
        transform: { try ArmSpecification($0) })
    var arm: [ArmSpecification] = []

    @Option(
        name: [.customShort("n"), .customLong("requests")],
        help: .init(
            "Requests for each URL and arm, at most. (default: 900; with --time 100000; with --exec 20 runs)",
            valueName: "number"))
    var number: Int?

    @Option(
        name: [.customShort("c"), .customLong("concurrency")],
        help: .init("Requests at once. (default: 4)", valueName: "number"))
    var atOnce: Int?

    @Option(
        help: .init(
            "Requests a second of all arms together, whether earlier ones have ended or not.", valueName: "number"))
    var rate: Double?

    @Option(help: .init("Requests of each process and URL before anything counts.", valueName: "number"))
    var warmUp = 20

    @Option(
        help: .init(
            "Processes of each arm, one after another, at most; each is one observation, and a verdict needs "
                + "\(PairedComparison.minimumProcesses). (default: 10)", valueName: "number"))
    var processes: Int?

    @Option(help: .init("How many times as many requests a URL gets, in the order of the URLs.", valueName: "number"))
    var weight: [Int] = []

    @Option(
        help: .init("End when the median is known this well: '5%'.", valueName: "precision"), transform: Self.precision)
    var until: Double?

    @Option(
        help: .init(
            "Fit the comparison into that time. Each arm has one block for each URL at least.", valueName: "seconds"))
    var time: Double?

    @Option(help: .init("The seed of the order and of the intervals.", valueName: "number")) var seed: UInt64 = 1

    @Option(help: .init("The timeout of each request; at most --time.", valueName: "seconds")) var timeout = 30.0

    @Option(help: .init("The largest body to accept, decompressed. (default: 64 MiB)", valueName: "bytes"))
    var maxBody: Int?

    @Flag(help: "Send below the pipeline: no redirects, cookies or retries, but the transport alone.")
    var noPipeline = false

    @Flag(help: "Show the requests as they are sent, by a server of the tool in place of the URL's.") var wire = false

    @OptionGroup var reports: ComparisonOptions

    @OptionGroup var sources: RequestSources

    @OptionGroup var flags: RequestFlags

    @OptionGroup(title: "Connection, TLS and proxy (over curl)") var wireFlags: WireFlags

    var arms: [ArmSpecification] { arm.isEmpty ? ArmSpecification.standard : arm }

    private var requests: Int {
        number ?? (exec != nil ? 20 : time == nil ? 900 : ExperimentDesign.mostRequestsOfTime)
    }
    private var concurrency: Int { atOnce ?? 4 }

    /// The timeout of each request, or run of a program, in seconds.
    var requestTimeout: Double { min(timeout, time ?? timeout) }

    private static func precision(_ text: String) throws -> Double {
        let number = text.hasSuffix("%") ? String(text.dropLast()) : text
        guard let percent = Double(number), percent >= 0.1, percent <= 100 else {
            throw ValidationError("it takes a percentage from 0.1 to 100")
        }
        return percent / 100
    }

    func validate() throws {
        try sources.check(with: flags)
        try refuse(
            if: sources.isEmpty != (exec != nil), "give URLs, --input or --from-curl, or else a program by --exec")
        try refuse(
            if: exec != nil && (atOnce != nil || rate != nil || !weight.isEmpty || wire || processes != nil),
            "--exec excludes --concurrency, --rate, --weight, --processes and --wire: a program runs alone, and "
                + "each run is a process")
        if exec != nil, let rule = reports.failIf.first(where: { !$0.isOfPrograms }) {
            throw ValidationError("--exec can't have '\(rule.text)': its figures are p50 and cpu")
        }
        if rate != nil, let rule = reports.failIf.first(where: { $0.metric == .rate }) {
            throw ValidationError("with --rate there can't be '\(rule.text)': the rate is given")
        }
        if rate != nil, let rule = reports.failIf.first(where: { $0.metric == nil }) {
            throw ValidationError(
                "with --rate there can't be '\(rule.text)': it takes more rounds than an open load has")
        }
        try refuse(
            if: exec != nil && arms.contains { $0.httpVersion != nil || $0.loops != nil },
            "with --exec the program decides about 'http' and 'loops'")
        try OptionChecks.range(requests, 1...10_000_000, "--requests")
        try OptionChecks.range(concurrency, 1...1000, "--concurrency")
        try OptionChecks.range(warmUp, 0...100_000, "--warm-up")
        if let processes {
            try OptionChecks.range(processes, 1...ExperimentDesign.mostRounds, "--processes")
            try refuse(
                if: until != nil && processes < PairedComparison.minimumProcesses,
                "--until needs \(PairedComparison.minimumProcesses) --processes or more")
        }
        try refuse(if: noPipeline && !flags.steps.isEmpty, "--no-pipeline excludes --location, --retry and --bearer")
        if let rate, !(0.01...1_000_000).contains(rate) {
            throw ValidationError("--rate takes 0.01 to 1000000 requests a second; it is \(rate)")
        }
        try refuse(
            if: !weight.isEmpty && weight.count != sources.urls.count,
            "--weight is given \(weight.count) times, and there are \(sources.urls.count) URLs")
        for weight in weight { try OptionChecks.range(weight, 1...1000, "--weight") }
        try refuse(if: arms.count > 8, "--arm is given \(arms.count) times; 8 is the most")
        let names = arms.map(\.name) + arms.prefix(1).map(\.nameOfCopy)
        try refuse(if: Set(names).count < names.count, "two arms have the same name")
        try refuse(
            if: arms.count < 2 && reports.baseline == nil,
            "one arm has nothing to be compared with; give a second --arm, or an earlier run by --baseline")
        _ = try OptionChecks.timeout(timeout, "--timeout")
        _ = try OptionChecks.timeout(time, "--time")
        if let maxBody, maxBody < 0 { throw ValidationError("--max-body takes bytes, 0 or more; it is \(maxBody)") }
    }

    /// The most different requests of a comparison: each has verdicts and differences of its own.
    private static let maximumRequests = 100

    /// The most bytes that the files of requests, bodies and tokens have together: each process gets them by a pipe.
    static let maximumFileBytes = 256 << 20

    func requestsToCompare(_ files: InputFiles) async throws -> [SourceRequest] {
        var requests = try await sources.requests(
            with: self, timeout: requestTimeout, maxBody: maxBody, files: files)
        for (index, weight) in weight.enumerated() { requests[index].weight = weight }
        guard requests.count <= Self.maximumRequests else {
            throw ToolFailure(
                .usage, "there are \(requests.count) different requests; \(Self.maximumRequests) are the most")
        }
        return requests
    }

    /// Returns what tells each request, or the program, from others.
    func fingerprints(of requests: [SourceRequest]) -> [String] {
        if let exec { return [Fingerprint.of(["exec", exec])] }
        return requests.map { $0.fingerprint(noPipeline ? ["below the pipeline"] : []) }
    }

    func design(weights: [Int], known: Int = 0) -> ExperimentDesign {
        var design = ExperimentDesign(
            requests: max(requests, 1), concurrency: concurrency, rate: rate, arms: arms.count + 1, warmUp: warmUp,
            weights: weights,
            precision: until, time: time.map { .seconds($0) }, timeout: requestTimeout, seed: seed,
            comparisons: weights.count * (arms.count - 1) + known)
        guard exec == nil else {
            // Each run is a block.
            (design.isOfProgram, design.concurrency, design.warmUp) = (true, 1, 0)
            return design
        }
        design.showsWire = wire
        if let processes { design.mostProcesses = processes }
        return design
    }

    func run() async throws {
        // Before anything is sent: a file that can't be read is no reason to wait.
        let baseline = try await reports.baselineFile()
        try reports.checkFiles()
        // What is wrong with the request is said once, and not by each arm.
        let files = InputFiles(limit: Self.maximumFileBytes)
        let requests = try await requestsToCompare(files)
        let identities = fingerprints(of: requests)
        try baseline?.check(arms: arms.map(\.name), requests: identities)
        let shown = exec.map { [ComparisonEnvironment.shown(program: $0)] } ?? requests.map(\.name)
        let design = design(
            weights: exec == nil ? requests.map(\.weight) : [1],
            known: baseline?.comparisons(arms: arms.map(\.name), requests: identities) ?? 0)
        let words = CommandWords.separated(Array(CommandLine.arguments.dropFirst()))
        let line = ProgressLine.ofComparison()
        defer { line.clear() }
        let experiment = Experiment(
            design: design, arguments: Array(words.dropFirst()), files: files.all, urls: shown,
            arePlain: requests.map(\.isPlain),
            progress: { arms, rounds in
                line.show { ProgressLine.text(arms, rounds: rounds, of: design, after: $0) }
            })
        let run = try await experiment.run(arms)
        line.clear()
        let report = Report(
            run, urls: shown, requests: identities,
            sentNames: requests.map { $0.request.headerFields.map(\.name) }, design: design,
            command: ComparisonEnvironment.shown(words), environment: ComparisonEnvironment.facts, baseline: baseline)
        try await reports.write(report)
        if let reason = reports.failure(of: report) { throw ToolFailure(.refusedByResult, reason) }
    }
}
