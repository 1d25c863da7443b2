import Foundation
import JSONText
import NetworkLayer

/// Sends lines of requests over one transport, many at once, and writes each result as soon as it is known.
struct Replay: Sendable {
    let transport: any HTTPTransport
    let output: OutputWriter
    /// The most requests that are in flight or wait to be written. Beyond that number, reading pauses.
    let concurrency: Int
    /// The limit on the bodies of these requests, until their results are written.
    let bodies: BodyBudget
    private let sessions: SessionJars

    init(
        transport: any HTTPTransport, output: OutputWriter, concurrency: Int, bodies: BodyBudget = BodyBudget(),
        sessions: SessionJars = SessionJars()
    ) {
        self.transport = transport
        self.output = output
        self.concurrency = concurrency
        self.bodies = bodies
        self.sessions = sessions
    }

    /// The length of the longest line, in bytes. A body of 48 MiB fits.
    static let maximumLineBytes = 64 * 1024 * 1024

    /// Writes a result for every line until the source ends.
    /// - Throws: ``ToolFailure`` if the source can't be read, after the requests in flight have completed; or at once
    ///   if the output can't be written, which ends the reading and cancels the requests in flight, whose
    ///   results would be lost. `CancellationError`.
    func run(_ source: ByteSource) async throws {
        let (failures, failed) = AsyncStream<any Error>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Reading may block for any time, and so may a request: neither of them may delay a failure of the output.
            group.addTask { for await failure in failures { throw failure } }
            group.addTask {
                defer { failed.finish() }
                try await send(linesOf: source, noting: failed)
            }
            // Unlike `waitForAll`, this ends with the first failure.
            while try await group.next() != nil {}
        }
    }

    /// Sends the requests of all lines, and returns when the last result is written.
    /// - Parameter failed: Receives the failure of the output.
    private func send(linesOf source: ByteSource, noting failed: AsyncStream<any Error>.Continuation) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var started = 0
            var splitter = LineSplitter(limit: Self.maximumLineBytes)
            func start(_ lines: [LineSplitter.Line]) async throws {
                for line in lines {
                    if started >= concurrency { try await group.next() }
                    // One chunk may hold thousands of lines.
                    try Task.checkCancellation()
                    started += 1
                    group.addTask {
                        let share = bodies.share()
                        defer { share.giveBack() }
                        // A statement of its own: what the result was made of is freed before it waits to be written.
                        let result = await outcome(of: line, holding: share).json.line + [UInt8(ascii: "\n")]
                        do {
                            try await output.write(result)
                        } catch {
                            failed.yield(error)
                            throw error
                        }
                    }
                }
            }
            var chunks = source.chunks().makeAsyncIterator()
            while let chunk = try await next(of: &chunks, after: &group) { try await start(splitter.lines(in: chunk)) }
            // A cancelled task ends the source too: what is left may be the start of a line.
            try Task.checkCancellation()
            try await start(splitter.last().map { [$0] } ?? [])
            try await group.waitForAll()
        }
    }

    /// Returns the next chunk; `nil` at the end of the source.
    /// - Throws: The failure of the source, once the requests of the lines before it have completed.
    private func next(
        of chunks: inout ByteSource.Chunks.Iterator, after group: inout ThrowingTaskGroup<Void, any Error>
    ) async throws -> [UInt8]? {
        do {
            return try await chunks.next()
        } catch {
            try await group.waitForAll()
            throw error
        }
    }

    /// Refuses a body that is announced as too large before any of it is read.
    private static func checkLength(of response: NetworkResponse<TransportResponse.Body>, limit: Int) throws {
        guard response.headerFields[.contentEncoding] == nil, response.headerFields[.transferEncoding] == nil,
            ![204, 304].contains(response.status.code),
            let length = response.headerFields[.contentLength].flatMap({ Int($0) }), length > limit
        else { return }
        throw NetworkError.bodyTooLarge(limit: limit)
    }

    /// Returns the result of one line, valid or not.
    /// - Parameter share: Holds the body. The caller gives it back when the result is written.
    func outcome(of line: LineSplitter.Line, holding share: BodyBudget.Share) async -> OutcomeLine {
        guard let bytes = line.bytes else {
            return .invalid(line, .null, "it has more than \(Self.maximumLineBytes) bytes")
        }
        var id = JSONValue.null
        do {
            let value = try JSONParser.parse(bytes)
            id = RequestLine.id(of: value)
            let requestLine = try RequestLine(value)
            try SessionJars.check(requestLine.session)
            let request = try requestLine.transportRequest()
            let client = try requestLine.options.client(over: transport, for: request) {
                sessions.jar(for: requestLine.session)
            }
            // A call that fails may have stored cookies too.
            defer { if let jar = client.cookieJar { sessions.note(jar, of: requestLine.session) } }
            let call = NetworkClient.Call(totalTimeout: request.options.totalTimeout)
            let response = try await client.send(request, as: .stream)
            let body: Data
            do {
                let limit = request.options.maximumBodyBytes
                if request.method != .head { try Self.checkLength(of: response, limit: limit) }
                body = try await share.collect(response.body, upTo: limit, within: call)
            } catch let error as NetworkError {
                throw error.during(request, transport: transport.name, elapsed: call.elapsed)
            }
            let url = response.url ?? request.url
            return OutcomeLine(id: id, response: response, body: body, url: url.absoluteString)
        } catch let problem as JSONProblem {
            return .invalid(line, id, "not JSON: \(problem.message), at byte \(problem.offset)")
        } catch let problem as LineProblem {
            return .invalid(line, id, problem.message)
        } catch var error as NetworkError {
            if error.phase == .preparing { error.message = "line \(line.number): \(error.message)" }
            return OutcomeLine(id: id, error: error)
        } catch is CancellationError {
            return OutcomeLine(id: id, error: .cancelled)
        } catch {
            return OutcomeLine(
                id: id,
                code: NetworkError.Code.unclassified.rawValue,
                message: "line \(line.number): \(type(of: error))"
            )
        }
    }
}

extension OutcomeLine {
    /// Returns the result of a line that is not a request.
    fileprivate static func invalid(_ line: LineSplitter.Line, _ id: JSONValue, _ problem: String) -> OutcomeLine {
        OutcomeLine(id: id, code: "invalidLine", message: "line \(line.number): \(problem)")
    }
}
