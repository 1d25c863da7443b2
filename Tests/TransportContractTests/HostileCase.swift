import Foundation
import NetworkLayer
import NetworkTesting
import Testing

/// What a server should not answer, and what comes of it: a response, or an error with a code that fits.
struct HostileCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Equatable {
        case response(Int, String)
        case failure(NetworkError.Code)
    }

    let name: String
    let script: Script
    /// The one that must be, or the ones that may.
    let outcomes: [Outcome]
    /// What a libcurl below 7.85 makes of it, when that is something else. URLSession over such a one does not run the
    /// case: there a header line without a colon ends the process.
    var lenient: Outcome?
    /// The case that a transport may be excluded from.
    var exclusion: Exclusion.Case?
    /// Whether the server sends without end what libcurl looks at and drops.
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

    /// A server that sends a text and closes.
    init(_ name: String, _ text: String, _ outcomes: Outcome..., exclusion: Exclusion.Case? = nil) {
        self.name = name
        script = .raw(text)
        self.outcomes = outcomes
        self.exclusion = exclusion
    }

    /// The case with what older libcurls make of it.
    func lenient(_ outcome: Outcome) -> HostileCase {
        var copy = self
        copy.lenient = outcome
        return copy
    }

    /// The case of a server whose words without end are dropped.
    func dropped() -> HostileCase {
        var copy = self
        copy.isDropped = true
        return copy
    }

    /// Meets the server once.
    func check(over transport: ContractTransport, method: HTTPRequest.Method = .get, body: Data? = nil) async throws {
        let isOld = ContractTransport.libcurlIsOld
        if isOld, lenient != nil, transport.kind == ContractTransport.urlsession.kind { return }
        let outcomes = outcomes + (isOld ? [lenient].compactMap(\.self) : [])
        let check: () async throws -> Void = {
            let server = try ScriptedServer(script)
            defer { server.stop() }
            let outcome: Outcome
            var details = ""
            do {
                let answer = try await transport.send(method, server.url(), body: body) {
                    // All URLSessions of a process share a queue, which on a busy machine is not yet done with the case
                    // before.
                    $0.connectTimeout = .seconds(60)
                    $0.totalTimeout = .seconds(100)
                    change(&$0)
                }
                outcome = .response(answer.status, answer.text)
            } catch let error as NetworkError {
                outcome = .failure(error.code)
                details = error.description
                // What ran out of time lets go of its connection, before the server does.
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
