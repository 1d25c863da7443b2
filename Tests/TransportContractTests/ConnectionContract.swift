import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ConnectionContract {
    @Test(arguments: ContractTransport.all)
    func `a connection is kept`(transport: ContractTransport) async throws {
        try await withServer(.ok("x")) { server in
            for number in 0..<20 {
                let body = number.isMultiple(of: 2) ? nil : Data("b".utf8)
                _ = try await transport.send(body == nil ? .get : .put, server.url(), body: body)
            }
            #expect(server.requests.count == 20)
            #expect(server.connectionCount < 20)
            try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `Connection: close is honoured`(transport: ContractTransport) async throws {
        let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
        try await withServer(.raw(closing)) { server async throws in
            for _ in 0..<5 { #expect(try await transport.send(.get, server.url()).text == "x") }
            #expect(server.connectionCount == 5)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a hundred slow requests are in flight together`(transport: ContractTransport) async throws {
        let gate = Gate()
        try await withServer([.read, .wait(until: gate), .ok("x")]) { server in
            async let texts = atOnce(100) { _ in try await transport.send(.get, server.url()).text }
            try await server.wait { $0.requests.count == 100 }
            gate.open()
            #expect(try await texts == Array(repeating: "x", count: 100))
            #expect(server.connectionCount == 100)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an IPv6 literal is connected to`(transport: ContractTransport) async throws {
        try await transport.run(.ipv6Literal) {
            do {
                _ = try await transport.send(.get, "http://[::1]:1/")
                Issue.record("something listens on port 1")
            } catch let error as NetworkError where error.code == .connectFailed {
                // Nothing listens there, but the transport has understood the address.
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `metrics are filled`(transport: ContractTransport) async throws {
        let metrics = try await transport.send(to: .ok("four")).metrics
        #expect(metrics.total > .zero)
        #expect(metrics.responseBodyBytes == 4)
        #expect(try #require(metrics.firstByte) <= metrics.total)
    }
}
