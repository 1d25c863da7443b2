import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The address policy over curl", .patience(minutes: 1))
struct AddressPolicyTests {
    @Test(arguments: Localhost.hosts)
    func `a private address is not even connected to`(host: String) async throws {
        let server = try ScriptedServer(.ok("secret"))
        defer { server.stop() }
        let error = await expectFailure(.addressRefused) {
            try await OptionExchange("http://\(host):\(server.port)/", over: CurlNetworkDispatcher()) {
                $0.addressPolicy = .noPrivateRanges
            }
        }
        #expect(error?.phase == .connecting)
        #expect(server.connectionCount == 0)
    }

    /// Regression: a request with options of its own went around the client's guard.
    @Test func `the policy of a client holds for each of its requests`() async throws {
        try await withServer(.ok("secret")) { server in
            var client = NetworkClient(transport: CurlNetworkDispatcher())
            client.options.addressPolicy = .noPrivateRanges
            var own = try TransportRequest(to: server.url())
            own.options.totalTimeout = .seconds(10)
            await expectFailure(.addressRefused) { [client] in try await client.send(own, as: .data) }
            await expectFailure(.addressRefused) { [client] in
                try await client.send(RequestData(url: server.url()), as: .data)
            }
            // A request that an interceptor makes is one of the client's too.
            let other = try TransportRequest(to: server.url("/other"))
            client.interceptors = [.replacing(other)]
            await expectFailure(.addressRefused) { [client] in try await client.send(own, as: .data) }
            client.interceptors = []
            #expect(server.connectionCount == 0)
            // A policy of its own is the request's choice.
            own.options.addressPolicy = .custom { _ in true }
            #expect(try await client.send(own, as: .text).body == "secret")
        }
    }

    @Test func `a kept connection is no way around the policy`() async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher()
            _ = try await OptionExchange(server.url(), over: dispatcher)
            await expectFailure(.addressRefused) {
                try await OptionExchange(server.url(), over: dispatcher) { $0.addressPolicy = .noPrivateRanges }
            }
            #expect(server.requests.count == 1)
            // Requests without the policy still use the connection.
            #expect(try await OptionExchange(server.url(), over: dispatcher).text == "x")
        }
    }

    /// Regression: a kept connection to a denied address failed the request, which would have had other addresses.
    @Test(arguments: [true, false])
    func `a kept connection to a denied address leaves the other addresses`(isKept: Bool) async throws {
        try await withServer(.ok("x")) { server in
            let (dispatcher, port) = (CurlNetworkDispatcher(), Int(server.port))
            let denied = try AddressPolicy.Range("127.0.0.1")
            @Sendable func send(_ policy: AddressPolicy) async throws -> String {
                try await OptionExchange("http://two.invalid:\(port)/", over: dispatcher) {
                    $0.names.addresses = [.init("two.invalid", port: port, ["127.0.0.1", "127.0.0.9"])]
                    $0.addressPolicy = policy
                }.text
            }
            if isKept { #expect(try await send(.any) == "x") }
            // Nothing listens at the other address.
            await expectFailure(.connectFailed) { try await send(.denying([denied])) }
            #expect(server.requests.count == (isKept ? 1 : 0))
        }
    }

    /// Regression: each later fault was the refusal of the address before.
    @Test func `after a refused address, a fault of the next one is its own`() async throws {
        try await withServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close]) { server in
            let denied = try AddressPolicy.Range("127.0.0.9")
            await expectFailure(.truncatedBody) {
                try await OptionExchange("http://two.invalid:\(server.port)/") {
                    $0.names.addresses = [.init("two.invalid", port: Int(server.port), ["127.0.0.9", "127.0.0.1"])]
                    $0.addressPolicy = .denying([denied])
                }
            }
        }
    }

    @Test func `of several addresses, an allowed one is taken`() async throws {
        try await withServer(.ok("x")) { server in
            let asked = Guarded<[String]>([])
            let exchange = try await OptionExchange("http://two.invalid:\(server.port)/") {
                $0.names.addresses = [.init("two.invalid", port: Int(server.port), ["127.0.0.9", "127.0.0.1"])]
                $0.addressPolicy = .custom { address in
                    asked.withLock { $0.append("\(address)") }
                    return address == AddressPolicy.Address("127.0.0.1")
                }
            }
            #expect(exchange.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(asked.withLock { $0 }.contains("127.0.0.9"))
        }
    }

    @Test func `a deny list refuses what it holds`() async throws {
        try await withServer(.ok("x")) { server in
            let narrow = try AddressPolicy.Range("127.0.0.0/30")
            let other = try AddressPolicy.Range("10.0.0.0/8")
            await expectFailure(.addressRefused) {
                try await OptionExchange(server.url()) { $0.addressPolicy = .denying([other, narrow]) }
            }
            let exchange = try await OptionExchange(server.url()) { $0.addressPolicy = .denying([other]) }
            #expect(exchange.text == "x")
        }
    }
}

private struct Replacing: Interceptor {
    let other: TransportRequest

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        try await next(other)
    }
}

extension Interceptor where Self == Replacing {
    /// Sends another request in place of each one.
    fileprivate static func replacing(_ other: TransportRequest) -> Replacing { Replacing(other: other) }
}
