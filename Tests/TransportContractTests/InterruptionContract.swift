import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Interruptions between a request and its response, each a hundred times.
@Suite(.serialized, .patience(minutes: 2), .ownProcess)
struct InterruptionContract {

    private static let rounds = 100

    /// Starts a request, waits until it has reached a phase, cancels it, and expects it to fail as cancelled.
    private func cancel(
        _ transport: ContractTransport,
        _ url: String,
        _ method: HTTPRequest.Method = .get,
        body: Data? = nil,
        orFails other: NetworkError.Code = .cancelled,
        when isThere: () async throws -> Void
    ) async throws {
        let task = Task { try await transport.send(method, url, body: body) }
        try await isThere()
        task.cancel()
        do {
            _ = try await task.value
            Issue.record("it succeeded despite its cancellation")
        } catch {
            let code = NetworkError.code(of: error)
            #expect(code == .cancelled || code == other, "\(error)")
        }
    }

    // MARK: Cancelled

    @Test(arguments: ContractTransport.all)
    func `a cancellation in the queue ends the request`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        // Both transports have this limit of connections for a host.
        let running = (0..<128).map { _ in
            // They have to outlast all rounds.
            Task { try await transport.send(.get, server.url()) { $0.totalTimeout = .seconds(30 * patienceFactor) } }
        }
        try await server.wait { $0.requests.count >= 128 }
        for _ in 0..<Self.rounds { try await cancel(transport, server.url()) { await Task.yield() } }
        #expect(server.connectionCount == 128)
        for task in running { task.cancel() }
        for task in running { await expectFailure(.cancelled) { try await task.value } }
        try await server.wait { $0.connectionsEndedByPeer >= 128 }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation while the name is resolved ends the request`(transport: ContractTransport) async throws {
        for number in 0..<Self.rounds {
            let url = "http://host-\(number).nonexistent.invalid/"
            // The name does not exist, so a fast reply may come first.
            try await cancel(transport, url, orFails: .nameNotResolved) {
                for _ in 0..<(number % 10) { await Task.yield() }
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation while it connects ends the request`(transport: ContractTransport) async throws {
        let listener = try FullListener()
        defer { listener.stop() }
        for _ in 0..<Self.rounds { try await cancel(transport, listener.url()) { await Task.yield() } }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation while it sends ends the request`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.readHead, .stall])
        defer { server.stop() }
        let body = Data(count: 8 << 20)
        for round in 1...Self.rounds {
            try await cancel(transport, server.url(), .put, body: body) {
                try await server.wait { $0.requests.count == round }
            }
        }
        try await server.wait { $0.connectionsEndedByPeer == Self.rounds }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation while it waits ends the request`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        for round in 1...Self.rounds {
            try await cancel(transport, server.url()) { try await server.wait { $0.requests.count == round } }
        }
        try await server.wait { $0.connectionsEndedByPeer == Self.rounds }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation in the body is delivered once`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), .stall])
        defer { server.stop() }
        for round in 0..<Self.rounds {
            let response = try await transport.start(.get, server.url())
            var chunks = response.body.makeAsyncIterator()
            #expect(try await chunks.next() == Data("abc".utf8))
            let reader = Task {
                var chunks = response.body.makeAsyncIterator()
                return try await chunks.next()
            }
            for _ in 0..<(round % 4) { await Task.yield() }
            reader.cancel()
            await expectFailure(.cancelled) { try await reader.value }
            await expectFailure(.bodyAlreadyRead) { _ = try await chunks.next() }
        }
        try await server.wait { $0.connectionsEndedByPeer == Self.rounds }
    }

    // MARK: Early responses

    @Test(arguments: ContractTransport.all)
    func `a refusal during the upload is a response`(transport: ContractTransport) async throws {
        let refusal = Script.head(413, fields: [("Connection", "close"), ("Content-Length", "9")])
        let server = try ScriptedServer([.readHead, .send(refusal + Data("too large".utf8)), .stall])
        defer { server.stop() }
        let body = Data(count: 16 << 20)
        for _ in 0..<Self.rounds {
            let answer = try await transport.send(.put, server.url(), body: body)
            #expect(answer.status == 413)
            #expect(answer.text == "too large")
        }
        try await server.wait { $0.connectionsEndedByPeer == Self.rounds }
    }

    @Test(arguments: ContractTransport.all)
    func `a success during the upload is a response`(transport: ContractTransport) async throws {
        let head = Script.head(200, fields: [("Connection", "close"), ("Content-Length", "2")])
        let server = try ScriptedServer([.readHead, .send(head + Data("ok".utf8)), .stall])
        defer { server.stop() }
        let body = Data(count: 4 << 20)
        for _ in 0..<Self.rounds {
            let answer = try await transport.send(.put, server.url(), body: body)
            #expect(answer.status == 200)
            #expect(answer.text == "ok")
        }
    }

    // MARK: The server closes a kept-alive connection

    private static let answer = Script.head(200, fields: [("Content-Length", "2")]) + Data("ok".utf8)

    @Test(arguments: ContractTransport.all)
    func `a connection closed before the request is handled`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .send(Self.answer), .close])
        defer { server.stop() }
        for round in 1...Self.rounds {
            #expect(try await transport.send(.get, server.url()).text == "ok")
            try await server.wait { $0.endedConnectionCount == round }
        }
        #expect(server.requests.count == Self.rounds)
    }

    /// Every second request finds its connection closed without a response, and goes out again on a new one, since its
    /// method is idempotent.
    @Test(arguments: ContractTransport.all, [HTTPRequest.Method.get, .put])
    func `a connection closed during the request is handled`(transport: ContractTransport, method: HTTPRequest.Method)
        async throws
    {
        let check: () async throws -> Void = {
            let server = try ScriptedServer([.read, .send(Self.answer), .read, .close])
            defer { server.stop() }
            let body = method == .put ? Data(count: 10_000) : nil
            for _ in 0..<Self.rounds {
                #expect(try await transport.send(method, server.url(), body: body).text == "ok")
            }
            #expect(server.requests.allSatisfy { $0.body.count == body?.count ?? 0 })
        }
        guard method == .put else { return try await check() }
        try await transport.run(.uploadOnAClosedConnection, body: check)
    }

    @Test(arguments: ContractTransport.all)
    func `a connection closed right after the request is handled`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .send(Self.answer), .close])
        defer { server.stop() }
        for _ in 0..<Self.rounds { #expect(try await transport.send(.get, server.url()).text == "ok") }
    }

    @Test(arguments: ContractTransport.all)
    func `a connection reset right after the request is handled`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .send(Self.answer), .pause(.milliseconds(2)), .reset])
        defer { server.stop() }
        for _ in 0..<Self.rounds { #expect(try await transport.send(.get, server.url()).text == "ok") }
    }
}
