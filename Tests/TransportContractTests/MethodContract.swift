import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct MethodContract {
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]

    @Test(arguments: ContractTransport.all, methods)
    func `a method is sent as it is`(transport: ContractTransport, method: String) async throws {
        let server = try ScriptedServer(.ok("answer"))
        defer { server.stop() }
        let answer = try await transport.send(HTTPRequest.Method(checking: method), server.url("/a/b?c=d"))
        #expect(answer.text == "answer")
        #expect(server.requests.map(\.requestLine) == [[method, "/a/b?c=d", "HTTP/1.1"]])
    }

    /// RFC 9110 §9.1: methods are case-sensitive.
    @Test(arguments: ContractTransport.all, ["get", "Post", "delete", "pROPFIND"])
    func `a method keeps its case`(transport: ContractTransport, method: String) async throws {
        let server = try ScriptedServer(.ok("answer"))
        defer { server.stop() }
        func send() async throws {
            _ = try await transport.send(HTTPRequest.Method(checking: method), server.url("/a"))
            #expect(server.requests.map(\.method) == [method])
        }
        // URLSession changes only the methods that it knows.
        if method == "pROPFIND" { return try await send() }
        try await transport.run(.methodCase) { try await send() }
    }

    @Test(arguments: ContractTransport.all)
    func `a HEAD response has the fields and no body`(transport: ContractTransport) async throws {
        let url = try await Demo.url("/bytes/5")
        for _ in 0..<3 {
            let answer = try await transport.send(.head, url)
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            #expect(answer.values(of: "Content-Length") == ["5"])
            #expect(try await transport.send(.get, url).body == PatternBytes.make(count: 5))
        }
    }

    @Test(arguments: ContractTransport.all, ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `a request without body says Content-Length: 0`(transport: ContractTransport, method: String) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        _ = try await transport.send(HTTPRequest.Method(checking: method), server.url())
        _ = try await transport.send(HTTPRequest.Method(checking: method), server.url(), body: Data())
        for request in server.requests {
            #expect(request.values(of: "Content-Length") == ["0"], "\(request.head)")
            #expect(request.values(of: "Transfer-Encoding").isEmpty)
            #expect(request.values(of: "Content-Type").isEmpty)
        }
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ContractTransport.all, ["GET", "HEAD"])
    func `GET and HEAD say nothing of a body`(transport: ContractTransport, method: String) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        _ = try await transport.send(HTTPRequest.Method(checking: method), server.url())
        let request = try #require(server.requests.first)
        for name in ["Content-Length", "Transfer-Encoding", "Content-Type"] {
            #expect(request.values(of: name).isEmpty, "\(request.head)")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a DELETE body is sent`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        _ = try await transport.send(.delete, server.url(), body: Data("x".utf8))
        #expect(server.requests.map(\.body) == [Data("x".utf8)])
        #expect(server.requests.map(\.method) == ["DELETE"])
    }

    @Test(arguments: ContractTransport.all)
    func `a GET body is sent`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        try await transport.run(.bodyOnGet) {
            _ = try await transport.send(.get, server.url(), body: Data("x".utf8))
            #expect(server.requests.map(\.body) == [Data("x".utf8)])
            #expect(server.requests.map(\.method) == ["GET"])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `HTTP/1.0 is spoken on request`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.raw("HTTP/1.0 200 OK\r\n\r\nold"))
        defer { server.stop() }
        try await transport.run(.http1_0) {
            let answer = try await transport.send(.get, server.url()) { $0.httpVersion = .http1_0 }
            #expect(answer.text == "old")
            #expect(server.requests.map(\.requestLine.last) == ["HTTP/1.0"])
        }
    }
}
