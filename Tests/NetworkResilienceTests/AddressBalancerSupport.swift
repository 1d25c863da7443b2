import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkResilience

/// A resolver that gives scripted results in order; the last one repeats.
final class ScriptedResolver: AddressResolver {
    private let state: Guarded<(results: [Result<[String], NetworkError>], asked: [String])>

    init(_ results: Result<[String], NetworkError>...) { state = Guarded((results, [])) }

    convenience init(_ addresses: String...) { self.init(.success(addresses)) }

    var asked: [String] { state.withLock(\.asked) }

    func addresses(of host: String) async throws -> [AddressPolicy.Address] {
        let result = state.withLock { state in
            state.asked.append(host)
            return state.results.count > 1 ? state.results.removeFirst() : state.results[0]
        }
        return try result.get().compactMap { AddressPolicy.Address($0) }
    }
}

/// A transport whose responses depend on the address that a request is pinned to.
final class Peers: HTTPTransport {
    enum Behavior: Sendable {
        case responds(after: Duration, status: Int = 200)
        case fails(NetworkError)
    }

    let name = "peers"
    let capabilities: TransportCapabilities
    private let clock: ManualClock
    private let state = Guarded<(behaviors: [String: Behavior], sent: [TransportRequest])>(([:], []))

    init(_ clock: ManualClock) {
        self.clock = clock
        capabilities = StubTransport().capabilities
    }

    subscript(address: String) -> Behavior {
        get { state.withLock { $0.behaviors[address] } ?? .responds(after: .milliseconds(1)) }
        set { state.withLock { $0.behaviors[address] = newValue } }
    }

    var sent: [TransportRequest] { state.withLock(\.sent) }

    /// Returns how often each address was used since the last call.
    func shares() -> [String: Int] {
        let sent = state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
        return sent.reduce(into: [:]) {
            $0[$1.options.names.addresses.first?.addresses.first ?? "none", default: 0] += 1
        }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        state.withLock { $0.sent.append(request) }
        switch self[request.options.names.addresses.first?.addresses.first ?? "none"] {
        case .responds(let time, let status):
            clock.advance(by: time)
            return TransportResponse(
                head: HTTPResponse(status: .init(code: status)), body: TransportResponse.Body(Data("x".utf8)))
        case .fails(let error): throw error
        }
    }
}

extension AddressBalancer {
    /// A balancer with the same random numbers in each run.
    convenience init(
        _ resolver: some AddressResolver, _ clock: ManualClock, _ change: (inout Options) -> Void = { _ in }
    ) {
        var options = Options()
        change(&options)
        let generator = Guarded(SeededGenerator(seed: 35))
        self.init(
            options: options, resolver: resolver, clock: clock,
            random: { generator.withLock { Double.random(in: 0..<1, using: &$0) } })
    }

    /// The only name's addresses that are ejected.
    var ejected: [String] {
        (states["h:80"]?.addresses ?? []).filter { $0.ejected != nil }.map(\.address)
    }
}
