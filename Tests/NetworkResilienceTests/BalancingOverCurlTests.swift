import CurlTransport
import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkResilience

/// The balancer over the transport that it is made for.
@Suite("Balancing over curl", .patience(minutes: 1))
struct BalancingOverCurlTests {
    private func client(_ port: UInt16, _ addresses: String...) -> (AddressBalancer, NetworkClient) {
        let balancer = AddressBalancer(resolver: ScriptedResolver(.success(addresses)))
        let client = NetworkClient(transport: CurlNetworkDispatcher(), baseURL: "http://known.invalid:\(port)")
        return (balancer, client.balanced(balancer))
    }

    @Test func `a refused connection costs no request, and the host stays the URL's`() async throws {
        try await withServer(.ok("x")) { server async throws in
            let (balancer, client) = client(server.port, "127.0.0.9", "127.0.0.1")
            for _ in 0..<20 {
                let response = try await client.send(RequestData(path: "a", method: .post), as: .text)
                #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            }
            #expect(server.requests.count == 20 && server.connectionCount == 1)
            #expect(Set(server.requests.flatMap { $0.values(of: "Host") }) == ["known.invalid:\(server.port)"])
            let dead = balancer.states["known.invalid:\(server.port)"]?.addresses.first
            #expect(dead?.requests == 1 && dead?.ejected ?? .zero > .zero)
        }
    }

    @Test func `an address policy applies to the chosen address`() async throws {
        try await withServer(.ok("x")) { server async throws in
            var (_, client) = client(server.port, "127.0.0.1", "127.0.0.2")
            client.options.addressPolicy = .noPrivateRanges
            let error = await expectFailure(.addressRefused) { [client] in
                try await client.send(RequestData(path: "a"), as: .text)
            }
            #expect(error?.message.contains("AddressBalancer: at 127.0.0.") == true && server.connectionCount == 0)
        }
    }

    /// The server may have executed the POST before it died, so that no other address gets it.
    @Test(arguments: [HTTPRequest.Method.get, .post])
    func `a server that dies with a request gets it alone, unless it is idempotent`(
        method: HTTPRequest.Method
    ) async throws {
        let (asked, never) = (Gate(), Gate())
        try await withServer([.read, .ok("x"), .read, .open(asked), .wait(until: never)]) { server async throws in
            let (balancer, client) = client(server.port, "127.0.0.1", "127.0.0.9")
            while server.requests.isEmpty { _ = try await client.send(RequestData(path: "a"), as: .text) }
            let second = Task {
                _ = try await client.send(RequestData(path: "b", method: method), as: .text)
            }
            try await asked.wait()
            server.stop()
            let error = await expectFailure(method == .get ? .connectFailed : .connectionLost) {
                try await second.value
            }
            #expect(error?.message.contains(method == .get ? "after 1 others" : "at 127.0.0.1") == true)
            #expect(balancer.states.count == 1)
        }
    }
}
