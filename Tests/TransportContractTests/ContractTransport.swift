import Foundation
import NetworkLayer
import Testing

/// A transport under test. A new transport joins the suite with one line here.
struct ContractTransport: Sendable, CustomTestStringConvertible {
    let kind: String
    let transport: any HTTPTransport

    var testDescription: String { kind }

    static let curl = ContractTransport(kind: "curl", transport: CurlNetworkDispatcher.instance)
    static let urlsession = ContractTransport(kind: "urlsession", transport: URLSessionNetworkDispatcher.instance)
    /// All, or the one that NETWORKLAYER_CONTRACT_TRANSPORT names: scripts with another libcurl want curl.
    static let all = {
        let wanted = ProcessInfo.processInfo.environment["NETWORKLAYER_CONTRACT_TRANSPORT"]
        let transports = [curl, urlsession].filter { wanted == nil || wanted == $0.kind }
        precondition(!transports.isEmpty, "NETWORKLAYER_CONTRACT_TRANSPORT is '\(wanted ?? "")'")
        return transports
    }()

    /// Whether libcurl is older than 7.85: it takes more for a head, and asks the name service for names below
    /// `localhost`.
    static let libcurlIsOld: Bool = {
        let words = curl.transport.capabilities.basis.split(separator: " ")
        let numbers = words.dropFirst().first?.split(separator: ".").compactMap { Int($0) } ?? []
        return numbers.count > 1 && (numbers[0], numbers[1]) < (7, 85)
    }()

    /// A whole answer.
    struct Answer: Sendable {
        let head: HTTPResponse
        let body: Data
        let metrics: TransportMetrics

        var status: Int { head.status.code }
        var text: String { String(decoding: body, as: UTF8.self) }

        func values(of name: String) -> [String] { HTTPField.Name(name).map { head.headerFields[values: $0] } ?? [] }
    }

    /// Sends one request and reads its whole answer. Half a minute ends it, so that a fault is a failure and no hang.
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

    /// Sends one request and returns when the response's head is there.
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
