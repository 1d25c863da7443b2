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
    var bodies = BodyBudget()
    var sessions = SessionJars()

    /// The length of the longest line, in bytes. A body of 48 MiB fits.
    static let maximumLineBytes = 64 << 20

    /// Writes a result for every line until the source ends.
    /// - Throws: ``ToolFailure`` if the source can't be read, after the requests in flight have completed; or at once
    ///   if the output can't be written, which ends the reading and cancels the requests in flight, whose results would
    ///   be lost. `CancellationError`.
    func run(_ source: ByteSource) async throws {
        var lines = source.lines(limit: Self.maximumLineBytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            var started = 0
            while true {
                let line: LineSplitter.Line?
                do { line = try await lines.next() } catch {
                    try await group.waitForAll()
                    throw error
                }
                guard let line else { break }
                if started >= concurrency { try await group.next() }
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
                        // Reading may block for any time.
                        source.stop()
                        throw error
                    }
                }
            }
            // Unlike `waitForAll`, this ends with the first failure.
            while try await group.next() != nil {}
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

    func outcome(of line: LineSplitter.Line, holding share: BodyBudget.Share) async -> OutcomeLine {
        var id = JSONValue.null
        func failure(_ code: String, _ problem: String) -> OutcomeLine {
            OutcomeLine(id: id, code: code, message: "line \(line.number): \(problem)")
        }
        let invalid = "invalidLine"
        guard let bytes = line.bytes else {
            return failure(invalid, "it has more than \(Self.maximumLineBytes) bytes")
        }
        do {
            let value = try JSONParser.parse(bytes)
            id = RequestLine.id(of: value)
            let line = try RequestLine(value)
            try SessionJars.check(line.session)
            let request = line.request
            let client = try line.client(over: transport) { sessions.jar(for: line.session) }
            // A call that fails may have stored cookies too.
            defer { if let jar = client.cookieJar { sessions.note(jar, of: line.session) } }
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
            return failure(invalid, "not JSON: \(problem.message), at byte \(problem.offset)")
        } catch let problem as LineProblem {
            return failure(invalid, problem.message)
        } catch var error as NetworkError {
            if error.phase == .preparing { error.message = "line \(line.number): \(error.message)" }
            return OutcomeLine(id: id, error: error)
        } catch is CancellationError {
            return OutcomeLine(id: id, error: .cancelled)
        } catch {
            return failure(NetworkError.Code.unclassified.rawValue, "\(type(of: error))")
        }
    }
}
