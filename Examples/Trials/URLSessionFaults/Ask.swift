import Foundation
import NetworkLayer

/// The request of a probe.
struct Ask: Sendable {
    var method = "GET"
    var path = "/"
    /// A URL in place of the first server's URL and the path.
    var url: String?
    var fields: [String: String] = [:]
    var body: Data?
    var streamsBody = false
    /// The idle timeout, in seconds: URLSession's `timeoutInterval`, the dispatchers' idle timeout.
    var idleSeconds: Double?
    /// The total timeout, in seconds: `timeoutIntervalForResource`, the dispatchers' total timeout.
    var totalSeconds: Double?
}

/// The outcome of a request, in the same words for all subjects.
struct Answer: Sendable {
    var status: Int?
    var body = Data()
    var fields: [(name: String, value: String)] = []
    var failure: String?

    /// Returns the values of a field, as a caller sees them.
    func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }

    var text: String {
        if let failure { return "error \(failure)" }
        let location = values("Location").first.map { " to \($0)" } ?? ""
        if body.isEmpty { return "\(status ?? 0)\(location)" }
        if body.count > 30 { return "\(status ?? 0)\(location), \(body.count) bytes" }
        return "\(status ?? 0)\(location) '\(String(decoding: body, as: UTF8.self))'"
    }
}

/// The client side of a row: a subject and the ports of the servers.
struct Probe: Sendable {
    let subject: Subject
    let ports: [Int]

    var url: String { "http://127.0.0.1:\(ports[0])" }

    func send(_ ask: Ask) async throws -> Answer {
        switch subject {
        case .raw: await RawClient.send(ask, to: ask.url ?? url + ask.path)
        case .urlsession: await send(ask, over: URLSessionNetworkDispatcher.shared)
        case .curl: await send(ask, over: CurlNetworkDispatcher.shared)
        }
    }

    var dispatcher: any HTTPTransport {
        subject == .curl ? CurlNetworkDispatcher.shared : URLSessionNetworkDispatcher.shared
    }

    /// Returns the request for one of the library's dispatchers.
    func request(_ ask: Ask, change: (inout TransportOptions) -> Void = { _ in }) throws -> TransportRequest {
        guard let method = HTTPRequest.Method(rawValue: ask.method) else {
            throw NetworkError(.invalidMethod, "the text is not an HTTPRequest.Method", phase: .preparing)
        }
        var options = TransportOptions()
        options.totalTimeout = .seconds(ask.totalSeconds ?? 4)
        if let idle = ask.idleSeconds { options.idleTimeout = .seconds(idle) }
        change(&options)
        let data = RequestData(path: ask.url ?? url + ask.path, method: method, headerFields: ask.fields)
        var request = try data.transportRequest(options: options)
        if let body = ask.body {
            let chunk = [body]
            request.body =
                ask.streamsBody
                ? .replayableStream(length: body.count) {
                    AsyncStream {
                        for part in chunk { $0.yield(part) }; $0.finish()
                    }
                }
                : .bytes(body)
        }
        return request
    }

    private func send(_ ask: Ask, over transport: any HTTPTransport) async -> Answer {
        var answer = Answer()
        do {
            let response = try await transport.send(try request(ask))
            answer.body = try await response.body.collect()
            answer.status = response.head.status.code
            answer.fields = response.head.headerFields.map { ($0.name.rawName, $0.value) }
        } catch let error as NetworkError {
            answer.failure = error.code.rawValue
        } catch {
            answer.failure = "\(error)"
        }
        return answer
    }
}
