import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import Testing

/// A transport under test. A new transport joins the suite with one line here.
struct ContractTransport: Sendable, CustomTestStringConvertible {
    let kind: String
    let transport: any HTTPTransport & NetworkDispatcher

    var testDescription: String { kind }

    static let curl = ContractTransport(kind: "curl", transport: CurlNetworkDispatcher.shared)
    static let urlsession = ContractTransport(kind: "urlsession", transport: URLSessionNetworkDispatcher.shared)
    /// Under curl's name, since it has curl's exclusions.
    private static let http3 = ContractTransport(kind: "curl", transport: HTTP3Front())
    /// All transports, or the one that NETWORKLAYER_CONTRACT_TRANSPORT names. Scripts that test another libcurl set it
    /// to curl, and `scripts/http3` to http3.
    static let all = {
        let wanted = ProcessInfo.processInfo.environment["NETWORKLAYER_CONTRACT_TRANSPORT"]
        let transports = wanted == "http3" ? [http3] : [curl, urlsession].filter { wanted == nil || wanted == $0.kind }
        precondition(!transports.isEmpty, "NETWORKLAYER_CONTRACT_TRANSPORT is '\(wanted ?? "")'")
        return transports
    }()

    /// A complete response, and what the server saw.
    struct Answer: Sendable {
        let head: HTTPResponse
        let body: Data
        let metrics: TransportMetrics
        var requests: [ReceivedRequest] = []

        var status: Int { head.status.code }
        var text: String { String(decoding: body, as: UTF8.self) }

        func values(of name: String) -> [String] { HTTPField.Name(name).map { head.headerFields[values: $0] } ?? [] }

        /// The one request that the server got.
        var request: ReceivedRequest? { requests.count == 1 ? requests[0] : nil }
    }

    /// A client over the transport. Each call has a timeout of 30 seconds, so that a fault is a failure and no hang.
    var client: NetworkClient {
        NetworkClient(transport: transport).with { $0.options.totalTimeout = .seconds(30) }
    }

    /// Returns a request with a timeout of 30 seconds.
    func request(
        _ method: HTTPRequest.Method = .get, _ url: String, fields: [(String, String)] = [],
        body: TransportRequest.Body? = nil, options configure: (inout TransportOptions) -> Void = { _ in }
    ) throws -> TransportRequest {
        var request = TransportRequest(method: method, url: try RequestURL(url), body: body)
        request.options.totalTimeout = .seconds(30)
        configure(&request.options)
        for (name, value) in fields { request.headerFields.append(try HTTPField(checking: name, value: value)) }
        return request
    }

    /// Sends a request and returns when the head of the response has arrived.
    func start(
        _ method: HTTPRequest.Method = .get, _ url: String, fields: [(String, String)] = [], body: Data? = nil,
        options configure: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> TransportResponse {
        let body = body.map { TransportRequest.Body.bytes($0) }
        return try await transport.send(try request(method, url, fields: fields, body: body, options: configure))
    }

    /// Sends a request and reads its complete response.
    func send(
        _ method: HTTPRequest.Method = .get, _ url: String, fields: [(String, String)] = [], body: Data? = nil,
        options configure: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> Answer {
        let response = try await start(method, url, fields: fields, body: body, options: configure)
        return Answer(head: response.head, body: try await response.body.collect(), metrics: response.metrics)
    }

    /// Sends a request to a server that runs a script, and reads its complete response.
    func send(
        _ method: HTTPRequest.Method = .get, _ path: String = "/", to script: Script,
        fields: [(String, String)] = [], body: Data? = nil,
        options configure: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> Answer {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        var answer = try await send(method, server.url(path), fields: fields, body: body, options: configure)
        answer.requests = server.requests
        return answer
    }
}

/// The demo server that the whole suite shares; it ends with the process.
enum Demo {
    private static let server = Task {
        let server = DemoServer()
        try await server.start()
        return server
    }

    static func url(_ path: String) async throws -> String { try await server.value.baseURL + path }
}

/// A time source whose pauses end at once and are recorded.
final class RecordedPauses: Sendable {
    private let pauses = Guarded<[Duration]>([])

    var all: [Duration] { pauses.withLock(\.self) }

    var time: TimeSource {
        TimeSource(
            now: { Date() },
            sleep: { pause in
                try Task.checkCancellation()
                self.pauses.withLock { $0.append(pause) }
            },
            random: { 0.5 }
        )
    }
}

extension Trait where Self == ConditionTrait {
    /// Enables a suite that keeps URLSession busy only in a process of its own.
    ///
    /// All URLSessions of a process share one queue, and each request that waits for its response keeps that queue
    /// busy. Such a suite would starve the others until their timeouts expire. `scripts/test` runs these suites in a
    /// process of their own.
    static var ownProcess: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["NETWORKLAYER_OWN_PROCESS"] != nil,
            "needs a process of its own: scripts/test"
        )
    }
}

/// Calls `body` with a temporary folder, and removes the folder afterwards.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "networklayer-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
