import ArgumentParser
import Foundation
import JSONText
import NetworkLayer
import NetworkRecording

/// The options that say which requests are sent: URLs, files and curl commands.
struct RequestSources: ParsableArguments {
    @Argument(help: "Absolute http or https URLs.") var urls: [String] = []

    @Option(
        help: .init(
            "A file with requests: JSON lines as 'run' reads them, or a HAR file. Options for requests hold for URLs "
                + "alone. May be repeated.", valueName: "file"))
    var input: [String] = []

    @Option(
        help: .init(
            "A curl command, as browsers copy it, with the options that fetch has. May be repeated.",
            valueName: "command"))
    var fromCurl: [String] = []

    /// The largest file of `--input`, in bytes.
    private static let maximumInput = 256 << 20

    var isEmpty: Bool { urls.isEmpty && input.isEmpty && fromCurl.isEmpty }

    /// Checks the options with those of the requests to URLs.
    func check(with flags: RequestFlags) throws {
        try refuse(if: input.contains("-") || flags.file == "-", "standard input can be read once only; give a file")
    }

    /// Returns the requests: those of the URLs, of the curl commands and of the files, in this order.
    func requests(
        with options: some RequestOptions, timeout: Double, maxBody: Int? = nil, files: InputFiles
    ) async throws -> [SourceRequest] {
        try await checkThatOptionsHaveAMeaning(options, files)
        var requests: [SourceRequest] = []
        func add(_ request: TransportRequest, with flags: RequestFlags) async throws {
            let token = try await flags.token(from: files)
            requests.append(
                SourceRequest(request, steps: flags.steps) { try flags.client(over: $0, for: $1, token: token) })
        }
        for (index, url) in urls.enumerated() {
            do {
                try await add(try await options.request(to: url, files: files), with: options.flags)
            } catch let error as NetworkError where error.code == .invalidURL && urls.count > 1 {
                throw error.at("URL \(index + 1) of \(urls.count)")
            }
        }
        for command in fromCurl {
            let line = try CurlLine(command)
            try await add(try await line.request(files: files), with: line.flags)
        }
        for path in input { requests += try await Self.requests(of: path, files) }
        var names: [String: Int] = [:]
        for index in requests.indices {
            let own = requests[index].request.options.totalTimeout ?? .seconds(timeout)
            requests[index].request.options.totalTimeout = min(own, .seconds(timeout))
            if let maxBody { requests[index].request.options.maximumBodyBytes = maxBody }
            let name = requests[index].name
            names[name, default: 0] += 1
            // Verdicts and differences name requests.
            if let number = names[name], number > 1 { requests[index].name += " (\(number))" }
        }
        return requests
    }

    /// Requests of files and of curl commands have all their options themselves.
    private func checkThatOptionsHaveAMeaning(_ options: some RequestOptions, _ files: InputFiles) async throws {
        guard urls.isEmpty, !isEmpty else { return }
        let plain = try TransportRequest(to: "http://localhost/")
        let own = try await options.request(to: "http://localhost/", files: files)
        guard options.flags.steps.isEmpty, own.options == plain.options,
            own.curlCommand(secrets: .revealed) == plain.curlCommand(secrets: .revealed)
        else {
            throw ToolFailure(
                .usage, "options for requests hold for URLs; lines, recordings and curl commands have their own")
        }
    }

    // MARK: Files

    /// Returns the different requests of a file, each with its number as its weight.
    private static func requests(of path: String, _ files: InputFiles) async throws -> [SourceRequest] {
        let bytes = try await files.bytes(of: path, limit: maximumInput)
        let all = isHAR(bytes) ? try await recorded(bytes, path) : try lines([UInt8](bytes), path)
        var places: [AnyHashable: Int] = [:]
        var requests: [SourceRequest] = []
        for (key, request) in all {
            if let place = places[key] {
                requests[place].weight += 1
            } else {
                places[key] = requests.count
                requests.append(request)
            }
        }
        guard !requests.isEmpty else { throw ToolFailure(.file, "\(path) has no requests") }
        return requests
    }

    /// Whether a file begins as a HAR file does, and not as a line of `run`, whose keys are others.
    private static func isHAR(_ bytes: Data) -> Bool {
        let start = bytes.lazy.filter { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
        return start.starts(with: "{\"log\":{".utf8)
    }

    private static func lines(_ bytes: [UInt8], _ name: String) throws -> [(AnyHashable, SourceRequest)] {
        var splitter = LineSplitter(limit: maximumInput)
        let lines = splitter.lines(in: bytes) + (splitter.last().map { [$0] } ?? [])
        return try lines.map { line in
            let place = "\(name), line \(line.number)"
            do {
                let value = try JSONParser.parse(line.bytes ?? [])
                let line = try RequestLine(value)
                // All that a line says of redirects, retries and cookies; its id is that of its result.
                let step = String(decoding: value.without("id").line, as: UTF8.self)
                let request = SourceRequest(line.request, steps: [step]) { transport, _ in
                    try line.client(over: transport) { CookieJar() }
                }
                return (step, request)
            } catch let problem as JSONProblem {
                throw ToolFailure(.file, "\(place): not JSON: \(problem.message), at byte \(problem.offset)")
            } catch let problem as LineProblem {
                throw ToolFailure(.file, "\(place): \(problem.message)")
            } catch let error as NetworkError {
                throw error.at(place)
            }
        }
    }

    /// Returns the requests of a HAR file, without redirects, cookies and retries: the file has each exchange.
    private static func recorded(_ bytes: Data, _ name: String) async throws -> [(AnyHashable, SourceRequest)] {
        let recorded = try RecordedEntries(har: bytes, of: name)
        await recorded.say()
        return try recorded.all.map { number, entry in
            do {
                let request = SourceRequest(try entry.request.transportRequest()) { transport, _ in
                    var client = NetworkClient(transport: transport)
                    client.redirectPolicy = .none
                    return client
                }
                return (RecordedKey(entry.request), request)
            } catch let error as NetworkError {
                throw error.at("\(name), entry \(number)")
            }
        }
    }
}

/// What makes two recorded requests the same one.
private struct RecordedKey: Hashable {
    let method, url: String
    let fields: HTTPFields
    /// By its digest: `Data` hashes its start alone.
    let body: [UInt8]?
    let omitted: Int?

    init(_ request: Recording.Request) {
        (method, url, fields) = (request.method.rawValue, request.url, request.headerFields)
        body = request.body.map { SHA256Checksum.digest($0.bytes) }
        omitted = request.body?.omitted
    }
}

extension NetworkError {
    /// Returns the error with the place of its request.
    fileprivate func at(_ place: String) -> NetworkError {
        var error = self
        error.message = "\(place): \(message)"
        return error
    }
}

extension JSONValue {
    fileprivate func without(_ key: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.key != key })
    }
}
