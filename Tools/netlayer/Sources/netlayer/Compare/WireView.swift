import Foundation
import JSONText
import NetworkComparison
import NetworkLayer
import NetworkTesting

/// A request of an arm as a server of the tool received it in place of the URL's server.
struct WireView: Sendable {
    /// The request line, the header lines in their order, and the size of the body; safe to print.
    let lines: [String]
    /// Whether a second request came over the same connection.
    let isConnectionKept: Bool

    /// - Parameters:
    ///   - requests: Two requests of an arm, one after the other.
    ///   - port: The server's port, which the requests name as their host.
    init?(_ requests: [ReceivedRequest], port: UInt16) {
        guard let first = requests.first else { return nil }
        var lines = [Self.requestLine(of: first)]
        for (name, value) in first.fields {
            guard let known = HTTPField.Name(name) else { continue }
            let shown = value == "127.0.0.1:\(port)" ? "…" : Self.shown(value, of: known)
            lines.append("\(name): \(shown)")
        }
        if !first.body.isEmpty {
            lines.append("(\(first.body.count) bytes, fingerprint \(Fingerprint.of(first.body)))")
        }
        self.lines = lines
        isConnectionKept = requests.count > 1 && requests[1].connection == first.connection
    }

    /// Returns a value as a report may show it.
    private static func shown(_ value: String, of name: HTTPField.Name) -> String {
        if SecretFields.contains(name) { return "…" }
        return TerminalText.line((try? RequestURL(value))?.description ?? value)
    }

    private static func requestLine(of request: ReceivedRequest) -> String {
        let path = request.target.prefix { $0 != "?" }
        let query = path.utf8.count < request.target.utf8.count ? "?…" : ""
        return "\(request.method) \(path)\(query) \(request.requestLine.dropFirst(2).joined(separator: " "))"
    }

    /// The connection in words.
    var connection: String { isConnectionKept ? "connection kept" : "a connection for each request" }

    /// Returns which lines another arm's request does not have.
    func differing(from other: WireView?) -> [Bool] {
        guard let other else { return lines.map { _ in false } }
        var rest = other.lines
        return lines.map { line in
            guard let index = rest.firstIndex(where: { $0.hasSameBytes(as: line) }) else { return true }
            rest.remove(at: index)
            return false
        }
    }

    var json: JSONValue {
        .object([
            .init("lines", .array(lines.map { .string($0) })), .init("connectionKept", .bool(isConnectionKept)),
        ])
    }
}

extension Experiment {
    /// Lets each arm send each request twice to a server of the tool.
    func lookAtTheWire(_ arms: inout [Arm]) async throws {
        for arm in arms.indices where !arms[arm].isCopy {
            // Another process, without the environment's proxies: the requests go out in the clear here, and with their
            // credentials.
            if let process = arms[arm].process {
                arms[arm].leaveProcess()
                await process.end()
            }
            arms[arm].usesNoProxy = true
            for url in urls.indices {
                let server = try ScriptedServer(.ok())
                defer { server.stop() }
                let order = BlockOrder(url: url, requests: 2, concurrency: 1, wirePort: server.port)
                guard try await run(order, of: &arms[arm]) != nil else { continue }
                arms[arm].figures[url].wire = WireView(server.requests, port: server.port)
            }
        }
    }
}

extension TransportRequest {
    /// Returns the request as it goes to a server of the tool: its path and query in the clear, without what says how
    /// its own server is reached.
    func sent(toPort port: UInt16) throws -> TransportRequest {
        var request = self
        let query = url.query.map { "?\($0)" } ?? ""
        request.url = try RequestURL("http://127.0.0.1:\(port)\(url.path)\(query)")
        if options.tls != TransportOptions.TLS() { request.options.tls = TransportOptions.TLS() }
        if options.names != TransportOptions.Names() { request.options.names = TransportOptions.Names() }
        if options.proxy != .environment { request.options.proxy = .environment }
        request.options.connection.unixSocket = nil
        request.options.connection.ipVersion = .any
        (request.options.connection.interface, request.options.connection.localPorts) = (nil, nil)
        request.options.addressPolicy = .any
        if options.httpVersion != .http1_0 { request.options.httpVersion = .automatic }
        return request
    }
}
