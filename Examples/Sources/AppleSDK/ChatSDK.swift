// An SDK as it is written for Apple's platforms. Only the import for Linux is another one.
import Foundation
#if canImport(FoundationNetworking)
import NetworkURLSession  // was: import FoundationNetworking
#endif

struct ChatError: Error {
    let status: Int
}

final class ChatSDK: Sendable {
    private let session: URLSession
    private let baseURL: URL

    init(baseURL: URL, session: URLSession = .shared) {
        self.baseURL = baseURL
        self.session = session
    }

    /// The data of server-sent events, as they arrive.
    func stream(_ path: String, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> [String] {
        var request = URLRequest(url: baseURL.appendingPathComponent(path))
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        let (bytes, response) = try await session.bytes(for: request, delegate: delegate)
        try check(response)
        var events: [String] = []
        for try await line in bytes.lines where line.hasPrefix("data:") {
            events.append(line.dropFirst(5).trimmingCharacters(in: .whitespaces))
        }
        return events
    }

    func send(_ file: URL) async throws -> Data {
        var request = URLRequest(url: baseURL.appendingPathComponent("echo"))
        request.httpMethod = "POST"
        let (data, response) = try await session.upload(for: request, fromFile: file)
        try check(response)
        return data
    }

    func attachment(of size: Int) async throws -> URL {
        let (file, response) = try await session.download(from: baseURL.appendingPathComponent("bytes/\(size)"))
        try check(response)
        return file
    }

    func users(_ completion: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        session.dataTask(with: baseURL.appendingPathComponent("users")) { data, _, error in
            completion(error.map { .failure($0) } ?? .success(data ?? Data()))
        }.resume()
    }

    private func check(_ response: URLResponse) throws {
        guard let head = response as? HTTPURLResponse, head.statusCode == 200 else {
            throw ChatError(status: (response as? HTTPURLResponse)?.statusCode ?? 0)
        }
    }
}

final class Stopwatch: NSObject, URLSessionTaskDelegate {
    private let report: @Sendable (String) -> Void

    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        guard let exchange = metrics.transactionMetrics.last, let start = exchange.fetchStartDate,
            let first = exchange.responseStartDate
        else { return }
        report("\(exchange.networkProtocolName ?? "?"), first byte after \(first.timeIntervalSince(start) > 0)")
    }
}
