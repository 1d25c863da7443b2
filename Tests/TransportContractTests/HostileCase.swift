import Foundation
import NetworkLayer
import NetworkTesting
import Testing

/// An invalid response of a server, with its expected outcomes: a response, or an error with a suitable code.
struct HostileCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Equatable {
        case response(Int, String)
        case failure(NetworkError.Code)
    }

    let name: String
    let script: Script
    /// The one required outcome, or all permitted ones.
    let outcomes: [Outcome]
    /// The case that a transport may be excluded from.
    var exclusion: Exclusion.Case?
    /// Whether the server endlessly sends bytes that libcurl parses and discards.
    var isDropped = false
    var change: @Sendable (inout TransportOptions) -> Void = { _ in }

    var testDescription: String { name }

    init(
        _ name: String,
        _ script: Script,
        _ outcomes: Outcome...,
        exclusion: Exclusion.Case? = nil,
        change: @escaping @Sendable (inout TransportOptions) -> Void = { _ in }
    ) {
        self.name = name
        self.script = script
        self.outcomes = outcomes
        self.exclusion = exclusion
        self.change = change
    }

    /// Creates a case with a server that sends a text and closes the connection.
    init(_ name: String, _ text: String, _ outcomes: Outcome..., exclusion: Exclusion.Case? = nil) {
        self.name = name
        script = .raw(text)
        self.outcomes = outcomes
        self.exclusion = exclusion
    }

    /// Returns the case of a server whose endless bytes are discarded.
    func dropped() -> HostileCase {
        var copy = self
        copy.isDropped = true
        return copy
    }

    /// Sends one request to the server and checks the outcome.
    func check(over transport: ContractTransport, method: HTTPRequest.Method = .get, body: Data? = nil) async throws {
        let check: () async throws -> Void = {
            let server = try ScriptedServer(script)
            defer { server.stop() }
            let outcome: Outcome
            var details = ""
            do {
                let answer = try await transport.send(method, server.url(), body: body) {
                    // All URLSessions of a process share a queue, which may still be working on the previous case on a
                    // busy machine.
                    $0.connectTimeout = .seconds(60)
                    $0.totalTimeout = .seconds(100)
                    change(&$0)
                }
                outcome = .response(answer.status, answer.text)
            } catch let error as NetworkError {
                outcome = .failure(error.code)
                details = error.description
                // After a timeout, the transport closes its connection before the server does.
                if error.code == .idleTimeout || error.code == .totalTimeout {
                    let letsGo = { try await server.wait { $0.endedConnectionCount == $0.connectionCount } }
                    if isDropped { try await transport.run(.droppedFlood, body: letsGo) } else { try await letsGo() }
                }
            }
            #expect(outcomes.contains(outcome), "\(details)")
        }
        if let exclusion { try await transport.run(exclusion, body: check) } else { try await check() }
    }
}
