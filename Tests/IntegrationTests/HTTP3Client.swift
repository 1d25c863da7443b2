import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

extension Peers {
    /// The first of Caddy's ports; see `scripts/peers/caddy`.
    static let caddyVariable = "NETWORKLAYER_CADDY_PORT"
    static let caddyPort = ProcessInfo.processInfo.environment[caddyVariable].flatMap { Int($0) }

    /// A site of Caddy's.
    enum Caddy: Int { case good, announcing, clientCertificate }

    static func port(of site: Caddy) throws -> Int { try #require(caddyPort) + site.rawValue }
}

extension Trait where Self == ConditionTrait {
    /// Enabled if the curl transport speaks HTTP/3.
    static var curlSpeaksHTTP3: Self {
        .enabled(
            if: CurlNetworkDispatcher.shared.capabilities.supports(.http3),
            "the libcurl found has no HTTP/3: scripts/newest-libcurl has one")
    }
}

/// HTTP/3 over curl to Caddy, on its own connections, so that each test counts only its own.
struct HTTP3Client {
    let dispatcher: CurlNetworkDispatcher
    let port: Int
    let host: String
    var version = TransportOptions.HTTPVersion.http3Only
    /// TCP is not tried before: on a busy machine it may be there first, which counts as a failure of QUIC.
    var patience: Duration? = .seconds(20)

    init(
        _ port: Int? = nil, host: String = "127.0.0.1", version: TransportOptions.HTTPVersion = .http3Only,
        configuration: CurlNetworkDispatcher.Configuration = .init()
    ) throws {
        dispatcher = CurlNetworkDispatcher(configuration: configuration)
        (self.port, self.host, self.version) = (try port ?? Peers.port(of: .good), host, version)
    }

    /// Returns a request, to a scripted server behind Caddy if there is one.
    func request(
        _ path: String, _ method: HTTPRequest.Method? = nil, behind server: ScriptedServer? = nil,
        body: TransportRequest.Body? = nil, options change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> TransportRequest {
        var request = TransportRequest(
            method: method ?? (body == nil ? .get : .post), url: try RequestURL("https://\(host):\(port)\(path)"),
            body: body)
        if let server { request.headerFields[.upstream] = "\(server.port)" }
        request.options.totalTimeout = .seconds(30 * patienceFactor)
        request.options.trustPeers()
        request.options.httpVersion = version
        request.options.connection.happyEyeballsDelay = patience
        change(&request.options)
        return request
    }

    /// Sends a request and returns when the head has arrived.
    func start(
        _ path: String = "/proto", _ method: HTTPRequest.Method? = nil, behind server: ScriptedServer? = nil,
        body: TransportRequest.Body? = nil, options change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> TransportResponse {
        try await dispatcher.send(request(path, method, behind: server, body: body, options: change))
    }

    /// Sends a request and reads the body to its end.
    func send(
        _ path: String = "/proto", _ method: HTTPRequest.Method? = nil, behind server: ScriptedServer? = nil,
        body: TransportRequest.Body? = nil, options change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> Exchange {
        try await Exchange(await start(path, method, behind: server, body: body, options: change))
    }
}

extension HTTPField.Name {
    static let upstream = Self("X-Upstream")!
}

/// `scripts/peers/relay` in front of a server: a network in which UDP can stop.
final class Relay: Sendable {
    let port: Int
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()

    init(to target: Int) throws {
        process = Process()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/peers/relay")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path, ".", "\(target)"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        port = try Self.number(from: output)
    }

    deinit { process.terminate() }

    /// Tells the relay something. Returns the number of datagrams that clients have sent so far.
    @discardableResult
    private func tell(_ line: String) throws -> Int {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        return try Self.number(from: output)
    }

    func drop() throws { try tell("drop") }
    func pass() throws { try tell("pass") }
    var datagrams: Int { get throws { try tell("count") } }

    private static func number(from output: Pipe) throws -> Int {
        var said = ""
        while !said.hasSuffix("\n"), case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
            said += String(decoding: bytes, as: UTF8.self)
        }
        return try #require(Int(said.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
