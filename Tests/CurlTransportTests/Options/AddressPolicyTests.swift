import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The address policy over curl", .patience(minutes: 1))
struct AddressPolicyTests {
    private let dispatcher = CurlNetworkDispatcher()

    /// Sends a request to a name with some addresses. A server listens at 127.0.0.1 alone.
    private func exchange(
        _ server: ScriptedServer, at addresses: String..., policy: AddressPolicy
    ) async throws -> Exchange {
        try await Exchange("http://two.invalid:\(server.port)/", over: dispatcher) {
            $0.names.addresses = [.init("two.invalid", port: Int(server.port), addresses)]
            $0.addressPolicy = policy
        }
    }

    @Test(arguments: hasLocalhost ? ["127.0.0.1", "localhost"] : ["127.0.0.1"])
    func `a private address is not even connected to`(host: String) async throws {
        try await withServer(.ok("secret")) { server in
            await expectFailure(.addressRefused, in: .connecting) {
                try await Exchange("http://\(host):\(server.port)/", over: dispatcher) {
                    $0.addressPolicy = .noPrivateRanges
                }
            }
            #expect(server.connectionCount == 0)
        }
    }

    private struct Replacing: Interceptor {
        let other: TransportRequest

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            try await next(other)
        }
    }

    /// Regression: a request with options of its own went around the client's guard.
    @Test func `the policy of a client holds for each of its requests`() async throws {
        try await withServer(.ok("secret")) { server in
            let client = NetworkClient(transport: dispatcher).with { $0.options.addressPolicy = .noPrivateRanges }
            var own = try makeRequest(server.url())
            await expectFailure(.addressRefused) { [own] in try await client.send(own, as: .data) }
            await expectFailure(.addressRefused) { try await client.send(RequestData(url: server.url()), as: .data) }
            // A request that an interceptor makes is one of the client's too.
            let other = try TransportRequest(to: server.url("/other"))
            let replacing = client.with { $0.interceptors = [Replacing(other: other)] }
            await expectFailure(.addressRefused) { [own] in try await replacing.send(own, as: .data) }
            #expect(server.connectionCount == 0)
            // A policy of its own is the request's choice.
            own.options.addressPolicy = .custom { _ in true }
            #expect(try await client.send(own, as: .text).body == "secret")
        }
    }

    @Test func `a kept connection is no way around the policy`() async throws {
        try await withServer(.ok("x")) { server in
            _ = try await Exchange(server.url(), over: dispatcher)
            await expectFailure(.addressRefused) {
                try await Exchange(server.url(), over: dispatcher) { $0.addressPolicy = .noPrivateRanges }
            }
            #expect(server.requests.count == 1)
            // Requests without the policy still use the connection.
            #expect(try await Exchange(server.url(), over: dispatcher).text == "x")
        }
    }

    /// Regression: a kept connection to a denied address failed the request, which would have had other addresses.
    @Test(arguments: [true, false])
    func `a kept connection to a denied address leaves the other addresses`(isKept: Bool) async throws {
        try await withServer(.ok("x")) { server in
            let denied = try AddressPolicy.Range("127.0.0.1")
            if isKept { #expect(try await exchange(server, at: "127.0.0.1", "127.0.0.9", policy: .any).text == "x") }
            // Nothing listens at the other address.
            await expectFailure(.connectFailed) {
                try await exchange(server, at: "127.0.0.1", "127.0.0.9", policy: .denying([denied]))
            }
            #expect(server.requests.count == (isKept ? 1 : 0))
        }
    }

    /// Regression: each later fault was the refusal of the address before.
    @Test func `after a refused address, a fault of the next one is its own`() async throws {
        try await withServer(.truncated) { server in
            let denied = try AddressPolicy.Range("127.0.0.9")
            await expectFailure(.truncatedBody) {
                try await exchange(server, at: "127.0.0.9", "127.0.0.1", policy: .denying([denied]))
            }
        }
    }

    @Test func `of several addresses, an allowed one is taken`() async throws {
        try await withServer(.ok("x")) { server in
            let asked = Guarded<[String]>([])
            let policy = AddressPolicy.custom { address in
                asked.withLock { $0.append("\(address)") }
                return address == AddressPolicy.Address("127.0.0.1")
            }
            let exchange = try await exchange(server, at: "127.0.0.9", "127.0.0.1", policy: policy)
            #expect(exchange.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(asked.withLock { $0 }.contains("127.0.0.9"))
        }
    }

    @Test func `a deny list refuses what it holds`() async throws {
        try await withServer(.ok("x")) { server in
            let (narrow, other) = (try AddressPolicy.Range("127.0.0.0/30"), try AddressPolicy.Range("10.0.0.0/8"))
            await expectFailure(.addressRefused) {
                try await Exchange(server.url()) { $0.addressPolicy = .denying([other, narrow]) }
            }
            #expect(try await Exchange(server.url()) { $0.addressPolicy = .denying([other]) }.text == "x")
        }
    }
}
