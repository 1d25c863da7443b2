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
        _ transport: ContractTransport, _ url: String, _ method: HTTPRequest.Method = .get, body: Data? = nil,
        orFails other: NetworkError.Code = .cancelled, when isThere: () async throws -> Void
    ) async throws {
        let task = Task { try await transport.send(method, url, body: body) }
        try await isThere()
        task.cancel()
        do {
            _ = try await task.value
            Issue.record("it succeeded despite its cancellation")
        } catch {
            #expect([.cancelled, other].contains(NetworkError.code(of: error)), "\(error)")
        }
    }

    // MARK: Cancelled

    @Test(arguments: ContractTransport.all)
    func `a cancellation in the queue ends the request`(transport: ContractTransport) async throws {
        try await withServer(.stalled) { server in
            // Both transports have this limit of connections for a host.
            let running = (0..<128).map { _ in
                // They have to outlast all rounds.
                Task {
                    try await transport.send(.get, server.url()) { $0.totalTimeout = .seconds(30 * patienceFactor) }
                }
            }
            try await server.wait { $0.requests.count >= 128 }
            for _ in 0..<Self.rounds { try await cancel(transport, server.url()) { await Task.yield() } }
            #expect(server.connectionCount == 128)
            for task in running { task.cancel() }
            for task in running { await expectFailure(.cancelled) { try await task.value } }
            try await server.wait { $0.connectionsEndedByPeer >= 128 }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation while the name is resolved ends the request`(transport: ContractTransport) async throws {
        for number in 0..<Self.rounds {
            // The name does not exist, so a fast reply may come first.
            let url = "http://host-\(number).nonexistent.invalid/"
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

    @Test(arguments: ContractTransport.all, [true, false])
    func `a cancellation while it sends or waits ends the request`(
        transport: ContractTransport, sends: Bool
    ) async throws {
        try await withServer(sends ? [.readHead, .stall] : .stalled) { server in
            let body = sends ? Data(count: 8 << 20) : nil
            for round in 1...Self.rounds {
                try await cancel(transport, server.url(), sends ? .put : .get, body: body) {
                    try await server.wait { $0.requests.count == round }
                }
            }
            try await server.wait { $0.connectionsEndedByPeer == Self.rounds }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation in the body is delivered once`(transport: ContractTransport) async throws {
        try await withServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), .stall]) { server in
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
    }

    // MARK: Early responses

    @Test(arguments: ContractTransport.all, [(413, 16 << 20), (200, 4 << 20)])
    func `a response during the upload is the response`(
        transport: ContractTransport, row: (status: Int, size: Int)
    ) async throws {
        let response = Script.Step.respond(row.status, "the response", fields: [("Connection", "close")])
        try await withServer([.readHead, response, .stall]) { server in
            let body = Data(count: row.size)
            for _ in 0..<Self.rounds {
                let answer = try await transport.send(.put, server.url(), body: body)
                #expect(answer.status == row.status && answer.text == "the response")
            }
            try await server.wait { $0.connectionsEndedByPeer == Self.rounds }
        }
    }

    // MARK: The server closes a kept-alive connection

    @Test(arguments: ContractTransport.all)
    func `a connection closed before the request is handled`(transport: ContractTransport) async throws {
        try await withServer([.read, .ok("ok"), .close]) { server in
            for round in 1...Self.rounds {
                #expect(try await transport.send(.get, server.url()).text == "ok")
                try await server.wait { $0.endedConnectionCount == round }
            }
            #expect(server.requests.count == Self.rounds)
        }
    }

    /// Every second request finds its connection closed without a response, and goes out again on a new one, since its
    /// method is idempotent.
    @Test(arguments: ContractTransport.all, [HTTPRequest.Method.get, .put])
    func `a connection closed during the request is handled`(transport: ContractTransport, method: HTTPRequest.Method)
        async throws
    {
        let body = method == .put ? Data(count: 10_000) : nil
        let check: () async throws -> Void = {
            try await withServer([.read, .ok("ok"), .read, .close]) { server async throws in
                for _ in 0..<Self.rounds {
                    #expect(try await transport.send(method, server.url(), body: body).text == "ok")
                }
                #expect(server.requests.allSatisfy { $0.body.count == body?.count ?? 0 })
            }
        }
        guard method == .put else { return try await check() }
        try await transport.run(.uploadOnAClosedConnection, body: check)
    }

    @Test(
        arguments: ContractTransport.all,
        [("closed", [.close]), ("reset", [.pause(.milliseconds(2)), .reset])] as [(String, [Script.Step])])
    func `a connection that ends right after the request is handled`(
        transport: ContractTransport, end: (name: String, steps: [Script.Step])
    ) async throws {
        try await withServer(Script([.read, .ok("ok")] + end.steps)) { server async throws in
            for _ in 0..<Self.rounds { #expect(try await transport.send(.get, server.url()).text == "ok") }
        }
    }
}
