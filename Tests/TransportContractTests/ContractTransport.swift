import Foundation
import NetworkLayer
import Testing

/// A transport under test. A new transport joins the suite with one line here.
struct ContractTransport: Sendable, CustomTestStringConvertible {
    let kind: String
    let transport: any HTTPTransport & NetworkDispatcher

    var testDescription: String { kind }

    static let curl = ContractTransport(kind: "curl", transport: CurlNetworkDispatcher.shared)
    static let urlsession = ContractTransport(kind: "urlsession", transport: URLSessionNetworkDispatcher.shared)
    /// All transports, or the one that NETWORKLAYER_CONTRACT_TRANSPORT names. Scripts that test another libcurl set it
    /// to curl.
    static let all = {
        let wanted = ProcessInfo.processInfo.environment["NETWORKLAYER_CONTRACT_TRANSPORT"]
        let transports = [curl, urlsession].filter { wanted == nil || wanted == $0.kind }
        precondition(!transports.isEmpty, "NETWORKLAYER_CONTRACT_TRANSPORT is '\(wanted ?? "")'")
        return transports
    }()

    /// A complete response.
    struct Answer: Sendable {
        let head: HTTPResponse
        let body: Data
        let metrics: TransportMetrics

        var status: Int { head.status.code }
        var text: String { String(decoding: body, as: UTF8.self) }

        func values(of name: String) -> [String] { HTTPField.Name(name).map { head.headerFields[values: $0] } ?? [] }
    }

    /// Sends a request and reads its complete response, within 30 seconds, so that a fault is a failure and no hang.
    func send(
        _ method: HTTPRequest.Method = .get,
        _ url: String,
        fields: [(String, String)] = [],
        body: Data? = nil,
        options configure: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> Answer {
        let response = try await start(method, url, fields: fields, body: body, options: configure)
        return Answer(head: response.head, body: try await response.body.collect(), metrics: response.metrics)
    }

    /// Sends a request and returns when the head of the response has arrived.
    func start(
        _ method: HTTPRequest.Method = .get,
        _ url: String,
        fields: [(String, String)] = [],
        body: Data? = nil,
        options configure: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> TransportResponse {
        var options = TransportOptions()
        options.totalTimeout = .seconds(30)
        configure(&options)
        var request = TransportRequest(method: method, url: try RequestURL(url), options: options)
        for (name, value) in fields { request.headerFields.append(try HTTPField(checking: name, value: value)) }
        request.body = body.map { .bytes($0) }
        return try await transport.send(request)
    }
}
