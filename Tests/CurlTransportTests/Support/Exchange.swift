import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport

@testable import CurlTransport

/// One exchange over a curl dispatcher, with its body read to the end.
struct Exchange {
    let response: TransportResponse
    let text: String
    let metrics: TransportMetrics
    var status: Int { response.status.code }

    init(
        _ url: String, _ method: HTTPRequest.Method? = nil, over dispatcher: CurlNetworkDispatcher = .shared,
        body: TransportRequest.Body? = nil, fields: HTTPFields = [:],
        options change: (inout TransportOptions) -> Void = { _ in }
    ) async throws {
        let request = try makeRequest(url, method, body: body, fields: fields, options: change)
        response = try await dispatcher.send(request)
        text = String(decoding: try await response.body.collect(), as: UTF8.self)
        metrics = response.metrics
    }
}

/// Returns a request that ends before its test does: a GET, or a POST if there is a body.
func makeRequest(
    _ url: String, _ method: HTTPRequest.Method? = nil, body: TransportRequest.Body? = nil, fields: HTTPFields = [:],
    options change: (inout TransportOptions) -> Void = { _ in }
) throws -> TransportRequest {
    var request = TransportRequest(
        method: method ?? (body == nil ? .get : .post), url: try RequestURL(url), headerFields: fields, body: body)
    request.options.totalTimeout = .seconds(50)
    change(&request.options)
    return request
}

extension CurlNetworkDispatcher {
    convenience init(_ change: (inout Configuration) -> Void) {
        var configuration = Configuration()
        change(&configuration)
        self.init(configuration: configuration)
    }

    /// Sends a request as `makeRequest` makes it, and returns when the head has arrived.
    func start(
        _ url: String, _ method: HTTPRequest.Method? = nil, body: TransportRequest.Body? = nil,
        fields: HTTPFields = [:], options change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> TransportResponse {
        try await send(try makeRequest(url, method, body: body, fields: fields, options: change))
    }
}

extension TransportOptions.Proxy {
    static func server(
        _ url: String, user: String? = nil, password: TransportOptions.Secret? = nil, tunnel: Bool = false,
        scheme: Server.AuthenticationScheme = .basic, _ change: (inout Server) -> Void = { _ in }
    ) -> Self {
        var server = Server(url, user: user, password: password)
        (server.tunnel, server.authenticationScheme) = (tunnel, scheme)
        change(&server)
        return .explicit(server)
    }

    /// Returns a proxy with credentials for its challenge.
    static func digest(at url: String, tunnel: Bool = false) -> Self {
        .server(url, user: "me", password: "pw", tunnel: tunnel, scheme: .digest)
    }
}

extension Script {
    /// Responds once, reads the second request, and closes without a response.
    static let once: Script = [.read, .ok(), .read, .close]
}

/// A counter that several threads increment.
final class Counter: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add(_ count: Int) { number.add(count, ordering: .relaxed) }
    func raise(to count: Int) { number.max(count, ordering: .relaxed) }
}

extension TransportOptions {
    /// Looks names up over HTTPS at a server.
    mutating func lookUp(at server: ScriptedServer) {
        names.dnsOverHTTPS = "https://127.0.0.1:\(server.port)/dns-query"
    }

    /// Gives a name some addresses, for the port of a server.
    mutating func pin(_ name: String, to addresses: String..., port: UInt16) {
        names.addresses = [.init(name, port: Int(port), addresses)]
    }
}

extension Transfer {
    /// Creates the transfer of a request with a plan of its own.
    convenience init(_ request: TransportRequest, over loop: CurlLoop) throws {
        let origin = Origin(request.url, request.options)
        let plan = Plan(request, origin: origin, clock: loop.clock, trustsAnyServer: false)
        try self.init(request, plan: plan)
    }
}

/// Whether names can be looked up over HTTPS.
let looksUpOverHTTPS = !Libcurl.found.suffers(from: .lookUpsUseFreedMemory)

/// Whether /etc/hosts has the name `localhost`, which a minimal container may lack.
let hasLocalhost = (try? String(contentsOfFile: "/etc/hosts", encoding: .utf8).contains("localhost")) ?? false
