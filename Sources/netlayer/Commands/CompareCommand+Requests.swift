import ArgumentParser
import Foundation
import NetworkLayer

/// A request of a comparison.
struct ComparedRequest: Sendable {
    /// The method, unless it is GET, and the URL without its query.
    var name: String
    /// How many times as many requests it gets.
    var weight = 1
    var request: TransportRequest
    /// Returns the request's client over the transport of an arm.
    var client: @Sendable (any HTTPTransport) async throws -> NetworkClient

    init(
        _ request: TransportRequest, client: @escaping @Sendable (any HTTPTransport) async throws -> NetworkClient
    ) {
        (self.request, self.client) = (request, client)
        name = (request.method == .get ? "" : "\(request.method.rawValue) ") + request.url.description
    }
}

extension CompareCommand {
    /// The most different requests of a comparison: each has verdicts and differences of its own.
    static let maximumRequests = 100
    /// The largest file of `--input`, in bytes.
    private static let maximumInput = 256 << 20

    /// Returns the requests: those of the URLs, of the curl commands and of the files, in this order.
    /// - Throws: ``NetworkError`` or ``ToolFailure`` for requests that can't be sent, and files that can't be read.
    func comparedRequests() async throws -> [ComparedRequest] {
        var requests: [ComparedRequest] = []
        for (index, url) in urls.enumerated() {
            let request = try await flags.request(to: url, cookies: pipeline.cookieField)
            var compared = ComparedRequest(request) { [pipeline] in
                try await pipeline.client(over: $0, for: request.url)
            }
            if !weight.isEmpty { compared.weight = weight[index] }
            requests.append(compared)
        }
        for command in fromCurl {
            let line = try CurlLine.read(command)
            let request = try await line.request()
            requests.append(
                ComparedRequest(request) { [pipeline = line.pipeline] in
                    try await pipeline.client(over: $0, for: request.url)
                })
        }
        for path in input { requests += try await Self.requests(ofLinesIn: path) }
        guard requests.count <= Self.maximumRequests else {
            throw ToolFailure(
                .usage, "there are \(requests.count) different requests; \(Self.maximumRequests) are the most")
        }
        var names: [String: Int] = [:]
        for index in requests.indices {
            requests[index].request.options.totalTimeout = .seconds(timeout)
            if let maxBody { requests[index].request.options.maximumBodyBytes = maxBody }
            let name = requests[index].name
            names[name, default: 0] += 1
            // Verdicts and differences name requests.
            if let number = names[name], number > 1 { requests[index].name += " (\(number))" }
        }
        return requests
    }

    /// Returns the requests of a file of JSON lines, as `run` reads them; lines that are the same are one request with
    /// their number as its weight.
    private static func requests(ofLinesIn path: String) async throws -> [ComparedRequest] {
        let source = try ByteSource(path: path)
        var splitter = LineSplitter(limit: maximumInput)
        let bytes = try await source.readAll(limit: maximumInput)
        var lines = splitter.lines(in: bytes)
        if let last = splitter.last() { lines.append(last) }
        var places: [[UInt8]: Int] = [:]
        var requests: [ComparedRequest] = []
        for line in lines {
            guard let bytes = line.bytes else { continue }
            if let place = places[bytes] {
                requests[place].weight += 1
                continue
            }
            places[bytes] = requests.count
            requests.append(try request(of: bytes, at: "\(source.name), line \(line.number)"))
        }
        guard !requests.isEmpty else { throw ToolFailure(.file, "\(source.name) has no requests") }
        return requests
    }

    private static func request(of bytes: [UInt8], at place: String) throws -> ComparedRequest {
        do {
            let line = try RequestLine(try JSONParser.parse(bytes))
            let request = try line.transportRequest()
            return ComparedRequest(request) { [options = line.options] in
                try options.client(over: $0, for: request) { CookieJar() }
            }
        } catch let problem as JSONProblem {
            throw ToolFailure(.file, "\(place): not JSON: \(problem.message), at byte \(problem.offset)")
        } catch let problem as LineProblem {
            throw ToolFailure(.file, "\(place): \(problem.message)")
        } catch var error as NetworkError {
            error.message = "\(place): \(error.message)"
            throw error
        }
    }
}
