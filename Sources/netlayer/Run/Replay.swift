import NetworkLayer

/// Sends lines of requests over one transport, many at once, and writes each result as soon as it is known.
struct Replay: Sendable {
    let transport: any HTTPTransport
    let output: OutputWriter
    /// The most requests that are in flight or wait to be written. Beyond that number, reading pauses.
    let concurrency: Int
    private let sessions = SessionJars()

    init(transport: any HTTPTransport, output: OutputWriter, concurrency: Int) {
        self.transport = transport
        self.output = output
        self.concurrency = concurrency
    }

    /// The length of the longest line, in bytes. A body of 48 MiB fits.
    static let maximumLineBytes = 64 * 1024 * 1024

    /// Writes a result for every line until the source ends.
    /// - Throws: ``ToolFailure`` if the source can't be read, after the requests in flight have completed; or if the
    ///   output can't be written, which cancels them.
    func run(_ source: ByteSource) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var started = 0
            var splitter = LineSplitter(limit: Self.maximumLineBytes)
            func start(_ lines: [LineSplitter.Line]) async throws {
                for line in lines {
                    if started >= concurrency { try await group.next() }
                    started += 1
                    group.addTask { try await output.write(answer(to: line).json.line + [UInt8(ascii: "\n")]) }
                }
            }
            do {
                for try await chunk in source.chunks() { try await start(splitter.lines(in: chunk)) }
            } catch let failure as ToolFailure where failure.status == .file {
                try await group.waitForAll()
                throw failure
            }
            try await start(splitter.last().map { [$0] } ?? [])
            try await group.waitForAll()
        }
        try Task.checkCancellation()
    }

    /// Returns the result of one line, valid or not.
    func answer(to line: LineSplitter.Line) async -> AnswerLine {
        guard let bytes = line.bytes else {
            return .invalid(line, .null, "it has more than \(Self.maximumLineBytes) bytes")
        }
        var id = JSONValue.null
        do {
            let value = try JSONParser.parse(bytes)
            id = RequestLine.id(of: value)
            let requestLine = try RequestLine(value)
            let request = try requestLine.transportRequest()
            let client = try requestLine.options.client(over: transport, for: request) {
                sessions.jar(for: requestLine.session)
            }
            let response = try await client.send(request, as: .stream)
            let body = try await response.body.collect(upTo: request.options.maximumBodyBytes)
            let url = response.url ?? request.url
            return AnswerLine(id: id, response: response, body: body, url: url.absoluteString)
        } catch let problem as JSONProblem {
            return .invalid(line, id, "not JSON: \(problem.message), at byte \(problem.offset)")
        } catch let problem as LineProblem {
            return .invalid(line, id, problem.message)
        } catch var error as NetworkError {
            if error.phase == .preparing { error.message = "line \(line.number): \(error.message)" }
            return AnswerLine(id: id, error: error)
        } catch is CancellationError {
            return AnswerLine(id: id, error: .cancelled)
        } catch {
            return AnswerLine(
                id: id,
                code: NetworkError.Code.unclassified.rawValue,
                message: "line \(line.number): \(NetworkError.logText(of: error))"
            )
        }
    }
}

extension AnswerLine {
    /// Returns the result of a line that is not a request.
    fileprivate static func invalid(_ line: LineSplitter.Line, _ id: JSONValue, _ problem: String) -> AnswerLine {
        AnswerLine(id: id, code: "invalidLine", message: "line \(line.number): \(problem)")
    }
}
