public import Foundation
public import FoundationNetworking
import NetworkCore
import NetworkLayer
import Synchronization

/// How long a task and its exchanges took.
public final class URLSessionTaskMetrics: NSObject, Sendable {
    /// From the start of the task to its end.
    public let taskInterval: DateInterval
    /// The number of redirects that were followed.
    public let redirectCount: Int
    /// The exchanges in their order, redirects included; at most 64 of them.
    public let transactionMetrics: [URLSessionTaskTransactionMetrics]

    init(_ interval: DateInterval, redirects: Int, _ transactions: [URLSessionTaskTransactionMetrics]) {
        (taskInterval, redirectCount, transactionMetrics) = (interval, redirects, transactions)
    }
}

/// The times of one exchange, from the transport's own clock. What did not happen, or is unknown, is `nil`.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
    /// The request.
    public let request: URLRequest
    /// The response, if there was one.
    public let response: URLResponse?
    private let start: Date
    private let metrics: TransportMetrics?

    init(request: URLRequest, response: URLResponse?, start: Date, metrics: TransportMetrics?) {
        (self.request, self.response, self.start, self.metrics) = (request, response, start, metrics)
    }

    private func date(_ times: Duration?...) -> Date? {
        let known = times.compactMap(\.self)
        guard known.count == times.count else { return nil }
        return start.addingTimeInterval(known.reduce(.zero, +) / .seconds(1))
    }

    /// When the exchange began, before it waited for a connection.
    public var fetchStartDate: Date? { start }
    /// When the lookup of the name began.
    public var domainLookupStartDate: Date? { metrics?.nameLookup == nil ? nil : date(metrics?.queued ?? .zero) }
    /// When the lookup of the name ended.
    public var domainLookupEndDate: Date? { date(metrics?.queued ?? .zero, metrics?.nameLookup) }
    /// When the connection was begun.
    public var connectStartDate: Date? { metrics?.connect == nil ? nil : domainLookupEndDate }
    /// When the TLS handshake began.
    public var secureConnectionStartDate: Date? {
        metrics?.tls == nil ? nil : date(metrics?.queued ?? .zero, metrics?.nameLookup, metrics?.connect)
    }
    /// When the TLS handshake ended.
    public var secureConnectionEndDate: Date? { metrics?.tls == nil ? nil : connectEndDate }
    /// When the connection was ready, after TLS.
    public var connectEndDate: Date? {
        date(metrics?.queued ?? .zero, metrics?.nameLookup, metrics?.connect, metrics?.tls ?? .zero)
    }
    /// When the request could be sent.
    public var requestStartDate: Date? { connectEndDate ?? date(metrics?.queued) }
    /// When the last byte of the request had been handed over.
    public var requestEndDate: Date? { date(metrics?.requestSent) }
    /// When the first byte of the response arrived.
    public var responseStartDate: Date? { date(metrics?.firstByte) }
    /// When the body had ended.
    public var responseEndDate: Date? { date(metrics?.total) }
    /// `http/1.0`, `http/1.1`, `h2` or `h3`.
    public var networkProtocolName: String? {
        metrics?.httpVersion.map { $0.hasPrefix("1") ? "http/\($0)" : "h\($0)" }
    }
    /// Whether the exchange used a kept connection.
    public var isReusedConnection: Bool { metrics?.connectionReused ?? false }
    /// The peer's IP address.
    public var remoteAddress: String? { metrics?.remoteAddress.map { Self.parts(of: $0).host } }
    /// The peer's port.
    public var remotePort: Int? { metrics?.remoteAddress.flatMap { Self.parts(of: $0).port } }
    /// The bytes of the request's body on the wire.
    public var countOfRequestBodyBytesSent: Int64 { Int64(metrics?.requestBodyBytes ?? 0) }
    /// The bytes of the response's body on the wire.
    public var countOfResponseBodyBytesReceived: Int64 { Int64(metrics?.responseWireBytes ?? 0) }
    /// The bytes of the response's body after decompression.
    public var countOfResponseBodyBytesAfterDecoding: Int64 { Int64(metrics?.responseBodyBytes ?? 0) }

    private static func parts(of address: String) -> (host: String, port: Int?) {
        guard let colon = address.lastIndex(of: ":") else { return (address, nil) }
        return (String(address[..<colon].filter { !"[]".contains($0) }), Int(address[address.index(after: colon)...]))
    }
}

/// The step that notes each exchange of a task, and the end of the last one.
final class TransactionLog: Interceptor {
    /// The number of exchanges that are noted.
    static let maximum = 64

    private struct Entry {
        let request: TransportRequest
        let start: Date
        var response: TransportResponse?
        var metrics: TransportMetrics?
    }

    private let start = Date()
    private let entries = Guarded<[Entry]>([])

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let index: Int? = entries.withLock { entries in
            guard entries.count < Self.maximum else { return nil }
            entries.append(Entry(request: request, start: Date()))
            return entries.count - 1
        }
        let response = try await next(request)
        guard let index else { return response }
        let head = TransportResponse(head: response.head, body: .init(Data()))
        entries.withLock { $0[index].response = head }
        // The log must not keep a body alive whose release is its end.
        return response.witnessed { [weak self] event in
            if case .bytes = event { return }
            let metrics = response.metrics
            self?.entries.withLock { $0[index].metrics = metrics }
        }
    }

    var metrics: URLSessionTaskMetrics {
        let entries = entries.withLock { $0 }
        let transactions = entries.compactMap { entry -> URLSessionTaskTransactionMetrics? in
            guard let request = URLRequest(entry.request) else { return nil }
            return URLSessionTaskTransactionMetrics(
                request: request, response: entry.response.flatMap { $0.head.urlResponse(of: entry.request.url) },
                start: entry.start, metrics: entry.metrics)
        }
        let redirects = entries.dropLast().count { entry in
            entry.response.map { (300..<400).contains($0.status.code) } ?? false
        }
        return URLSessionTaskMetrics(DateInterval(start: start, end: Date()), redirects: redirects, transactions)
    }
}

extension HTTPResponse {
    func urlResponse(of url: RequestURL) -> HTTPURLResponse? {
        NetworkResponse(body: (), head: self, url: url).httpURLResponse
    }
}

extension URLRequest {
    /// The request of a transport, without what produces its body.
    init?(_ request: TransportRequest) {
        guard let url = URL(string: request.url.absoluteString) else { return nil }
        self.init(url: url)
        httpMethod = request.method.rawValue
        for field in request.headerFields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        httpBody = request.body?.knownBytes
    }
}
