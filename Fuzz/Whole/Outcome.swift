import Foundation
import HTTPTypes
import NetworkCore

/// The outcome of a request.
struct Outcome {
    var status: Int?
    /// The numbers of the requests that the response names in X-For.
    var marks: [String] = []
    var body: [UInt8] = []
    var error: (any Error)?

    init() {}

    init(head: HTTPResponse) {
        status = head.status.code
        if let name = HTTPField.Name("X-For") { marks = head.headerFields[values: name] }
    }

    var code: NetworkError.Code? { error.flatMap(NetworkError.code) }

    /// The texts by which an error can get into a log.
    var printed: [String] {
        guard let error else { return [] }
        var dumped = ""
        dump(error, to: &dumped)
        return ["\(error)", String(reflecting: error), "\(Result<Int, any Error>.failure(error))", dumped]
    }

    var text: String { "\(status.map(String.init) ?? "-") \(marks) \(error.map { "\($0)" } ?? "")" }
}

/// Sends a request and reads its response in the way that the scenario selects.
struct Reading {
    let client: NetworkClient
    let exchange: Exchange
    /// A file path that nothing else uses.
    let path: String

    func outcome() async -> Outcome {
        do {
            return try await read()
        } catch {
            var outcome = Outcome()
            if let response = (error as? NetworkError)?.response {
                outcome = Outcome(head: HTTPResponse(status: response.status, headerFields: response.headerFields))
            }
            outcome.error = error
            return outcome
        }
    }

    private func read() async throws -> Outcome {
        let request = try exchange.request()
        switch exchange.ask.words["read"] {
        case "lines": return try await lines(request)
        case "events": return try await events(request)
        case "download": return try await download(request)
        case "json": return try await json(request)
        default: return try await body(request)
        }
    }

    private func body(_ request: TransportRequest) async throws -> Outcome {
        let response = try await client.send(request, as: .stream)
        var outcome = Outcome(head: response.head)
        var pauses = 0
        switch exchange.ask.words["read"] {
        case "nothing": break
        case "some": for try await _ in response.body { break }
        case "slow":
            for try await _ in response.body where pauses < 3 {
                pauses += 1
                try await Task.sleep(for: .milliseconds(1))
            }
        case "stream": for try await chunk in response.body { outcome.body += chunk.prefix(1_000) }
        default: outcome.body = Array(try await response.body.collect())
        }
        return outcome
    }

    private func lines(_ request: TransportRequest) async throws -> Outcome {
        let response = try await client.send(request, as: .lines(invalid: .replaced, maximumLineBytes: 10_000))
        for try await line in response.body where line.utf8.count > 40_000 { break }
        return Outcome(head: response.head)
    }

    private func json(_ request: TransportRequest) async throws -> Outcome {
        struct Line: Decodable {
            let a: [Int]?
        }
        // This form of response takes a `RequestData` only.
        let fields = request.headerFields.map { ($0.name.rawName, $0.value) }
        var data = RequestData(path: request.url.absoluteString, method: request.method)
        data.headerFields = Dictionary(fields) { first, _ in first }
        var client = client
        client.options = request.options
        let response = try await client.send(data, as: .jsonLines(of: Line.self))
        for try await _ in response.body {}
        return Outcome(head: response.head)
    }

    private func events(_ request: TransportRequest) async throws -> Outcome {
        var options = ServerSentEvents.Options()
        (options.maximumFailures, options.maximumEventBytes, options.maximumLineBytes) = (3, 10_000, 10_000)
        options.time = Self.hurried
        var count = 0
        for try await _ in try await client.send(request, as: .events(options)).body {
            count += 1
            if count == 100 { break }
        }
        return Outcome()
    }

    private func download(_ request: TransportRequest) async throws -> Outcome {
        var options = DownloadedFile.Options()
        (options.maximumRetries, options.maximumBytes, options.time) = (2, 1 << 22, Self.hurried)
        defer {
            for name in [path, path + ".partial", path + ".partial.json"] {
                try? FileManager.default.removeItem(atPath: name)
            }
        }
        let response = try await client.send(request, as: .file(path, options: options))
        return Outcome(head: response.head)
    }

    /// A time source whose pauses take no time. It stops a request that pauses too often, so that repetitions end.
    private static var hurried: TimeSource {
        let pauses = PauseCount()
        return TimeSource(now: { Date() }, sleep: { _ in try pauses.add() }, random: { 0.5 })
    }
}
