import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// One exchange with a server that runs a script, and what has to come of it.
struct ContractCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Equatable {
        case response(Int, String)
        case failure(NetworkError.Code)
    }

    typealias Change = @Sendable (inout TransportOptions) -> Void
    typealias Check = @Sendable (ContractTransport.Answer) throws -> Void

    let testDescription: String
    var method = HTTPRequest.Method.get
    var path = "/"
    var fields: [(String, String)] = []
    var body: Data?
    let script: Script
    /// The permitted outcomes; any response if there is none.
    var outcomes: [Outcome] = []
    /// The case that a transport may be excluded from.
    var exclusion: Exclusion.Case?
    var change: Change
    var check: Check = { _ in }
    /// Whether the server endlessly sends bytes that libcurl parses and discards.
    var isDropped = false

    /// Creates a case with a response to look at.
    init(
        _ name: String, _ method: HTTPRequest.Method = .get, _ path: String = "/", fields: [(String, String)] = [],
        body: Data? = nil, to script: Script = .ok(), exclusion: Exclusion.Case? = nil,
        options: @escaping Change = { _ in }, check: @escaping Check
    ) {
        (testDescription, self.method, self.path, self.fields) = (name, method, path, fields)
        (self.body, self.script, self.exclusion, change, self.check) = (body, script, exclusion, options, check)
    }

    /// Creates a case with a server that sends a text and closes the connection.
    init(_ name: String, _ text: String, exclusion: Exclusion.Case? = nil, check: @escaping Check) {
        self.init(name, to: .raw(text), exclusion: exclusion, check: check)
    }

    /// Creates a case with one permitted outcome, or several.
    init(
        _ name: String, _ script: Script, _ outcomes: Outcome..., exclusion: Exclusion.Case? = nil,
        change: @escaping Change = { _ in }
    ) {
        (testDescription, self.script, self.outcomes) = (name, script, outcomes)
        (self.exclusion, self.change) = (exclusion, change)
    }

    init(_ name: String, _ text: String, _ outcomes: Outcome..., exclusion: Exclusion.Case? = nil) {
        (testDescription, script, self.outcomes) = (name, .raw(text), outcomes)
        (self.exclusion, change) = (exclusion, { _ in })
    }

    /// Returns the case of a server whose endless bytes are discarded.
    func dropped() -> ContractCase {
        var copy = self
        copy.isDropped = true
        return copy
    }

    /// Returns the case with a posted body.
    func posting(_ count: Int) -> ContractCase {
        var copy = self
        (copy.method, copy.body) = (.post, Data(count: count))
        return copy
    }

    /// Sends the request and checks what comes of it.
    func check(over transport: ContractTransport) async throws {
        guard let exclusion else { return try await run(over: transport) }
        try await transport.run(exclusion) { try await run(over: transport) }
    }

    private func run(over transport: ContractTransport) async throws {
        try await withServer(script) { server in
            do {
                var answer = try await transport.send(method, server.url(path), fields: fields, body: body) {
                    // All URLSessions of a process share a queue, which may still be working on the previous case on a
                    // busy machine.
                    $0.connectTimeout = .seconds(60)
                    $0.totalTimeout = .seconds(100)
                    change(&$0)
                }
                answer.requests = server.requests
                #expect(outcomes.isEmpty || outcomes.contains(.response(answer.status, answer.text)))
                try check(answer)
            } catch let error as NetworkError where !outcomes.isEmpty {
                // After a timeout, the transport closes its connection before the server does.
                if [.idleTimeout, .totalTimeout].contains(error.code) {
                    let letsGo = { try await server.wait { $0.endedConnectionCount == $0.connectionCount } }
                    if isDropped { try await transport.run(.droppedFlood, body: letsGo) } else { try await letsGo() }
                }
                #expect(outcomes.contains(.failure(error.code)), "\(error)")
            }
        }
    }
}
