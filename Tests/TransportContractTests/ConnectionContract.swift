import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ConnectionContract {
    @Test(arguments: ContractTransport.all)
    func `a connection is kept`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        for number in 0..<20 {
            let body = number.isMultiple(of: 2) ? nil : Data("b".utf8)
            _ = try await transport.send(body == nil ? .get : .put, server.url(), body: body)
        }
        #expect(server.requests.count == 20)
        #expect(server.connectionCount < 20)
        try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
    }

    @Test(arguments: ContractTransport.all)
    func `Connection: close is honoured`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"))
        defer { server.stop() }
        for _ in 0..<5 { #expect(try await transport.send(.get, server.url()).text == "x") }
        #expect(server.connectionCount == 5)
    }

    @Test(arguments: ContractTransport.all)
    func `a kept connection that was closed is replaced`(transport: ContractTransport) async throws {
        let answer = Script.head(200, fields: [("Content-Length", "1")]) + Data("x".utf8)
        let server = try ScriptedServer([.read, .send(answer), .close])
        defer { server.stop() }
        for number in 1...10 {
            #expect(try await transport.send(.get, server.url()).text == "x")
            try await server.wait { $0.endedConnectionCount == number }
        }
        #expect(server.requests.count == 10)
    }

    @Test(arguments: ContractTransport.all)
    func `a hundred requests at once get their own responses`(transport: ContractTransport) async throws {
        struct Echo: Decodable {
            let path: String
            let query: String
            let bodyBytes: Int
        }
        let url = try await Demo.url("/echo")
        try await withThrowingTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    let body = Data(repeating: 0x61, count: number * 100)
                    let answer = try await transport.send(.post, "\(url)?n=\(number)", body: body)
                    let echo = try JSONDecoder().decode(Echo.self, from: answer.body)
                    #expect(echo.query == "n=\(number)")
                    #expect(echo.bodyBytes == body.count)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a hundred slow requests are in flight together`(transport: ContractTransport) async throws {
        let gate = Gate()
        let answer = Script.head(200, fields: [("Content-Length", "1")]) + Data("x".utf8)
        let server = try ScriptedServer([.read, .wait(until: gate), .send(answer)])
        defer { server.stop() }
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    let answer = try await transport.send(.get, server.url())
                    #expect(answer.text == "x")
                }
            }
            try await server.wait { $0.requests.count == 100 }
            gate.open()
            try await group.waitForAll()
        }
        #expect(server.connectionCount == 100)
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
        let server = try ScriptedServer(.ok("four"))
        defer { server.stop() }
        let metrics = try await transport.send(.get, server.url()).metrics
        #expect(metrics.total > .zero)
        #expect(metrics.responseBodyBytes == 4)
        #expect(try #require(metrics.firstByte) <= metrics.total)
    }
}
