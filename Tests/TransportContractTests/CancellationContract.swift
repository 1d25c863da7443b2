import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct CancellationContract {
    private static let count = 50

    /// Cancels all tasks and expects each to fail as cancelled.
    private func expectCancelled(_ tasks: [Task<ContractTransport.Answer, any Error>]) async {
        for task in tasks { task.cancel() }
        for task in tasks { await expectFailure(.cancelled) { try await task.value } }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation before the start sends nothing`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        for _ in 0..<Self.count {
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await transport.send(.get, server.url())
            }
            task.cancel()
            await expectFailure(.cancelled) { try await task.value }
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation right after the start is a cancellation`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        for _ in 0..<Self.count {
            await expectCancelled([Task { try await transport.send(.post, server.url(), body: Data("x".utf8)) }])
        }
        try await server.wait { $0.connectionsEndedByPeer == $0.connectionCount }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation during the wait ends the connections`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        let tasks = (0..<Self.count).map { number in
            Task { try await transport.send(.get, server.url("/\(number)")) }
        }
        try await server.wait { $0.requests.count == Self.count }
        await expectCancelled(tasks)
        try await server.wait { $0.connectionsEndedByPeer == Self.count }
        #expect(server.requests.count == Self.count)
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation during the body ends the connections`(transport: ContractTransport) async throws {
        let head = Script.head(200, fields: [("Content-Length", "100000")])
        let server = try ScriptedServer([.read, .send(head + PatternBytes.make(count: 50_000)), .stall])
        defer { server.stop() }
        let gates = (0..<Self.count).map { _ in Gate() }
        let tasks = gates.map { gate in
            Task {
                try await transport.send(.get, server.url()) {
                    $0.progress = { if $0.completed > 0 { gate.open() } }
                }
            }
        }
        for gate in gates { try await gate.wait() }
        await expectCancelled(tasks)
        try await server.wait { $0.connectionsEndedByPeer == Self.count }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation during the upload ends the connection`(transport: ContractTransport) async throws {
        let gate = Gate()
        let server = try ScriptedServer([.readHead, .open(gate), .stall])
        defer { server.stop() }
        let task = Task { try await transport.send(.put, server.url(), body: Data(count: 8 << 20)) }
        try await gate.wait()
        await expectCancelled([task])
        try await server.wait { $0.connectionsEndedByPeer == 1 }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation during the connecting is a cancellation`(transport: ContractTransport) async throws {
        let listener = try FullListener()
        defer { listener.stop() }
        let tasks = (0..<5).map { _ in Task { try await transport.send(.get, listener.url()) } }
        await Task.yield()
        await expectCancelled(tasks)
    }

    @Test(arguments: ContractTransport.all)
    func `a race with the response has one outcome`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok("done"))
        defer { server.stop() }
        let outcomes = await withTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task { try await transport.send(.get, server.url("/\(number)")) }
                    for _ in 0..<(number * 3) { await Task.yield() }
                    task.cancel()
                    do {
                        let answer = try await task.value
                        #expect(answer.text == "done")
                    } catch {
                        #expect(NetworkError.code(of: error) == .cancelled, "\(error)")
                    }
                    return 1
                }
            }
            return await group.reduce(0, +)
        }
        #expect(outcomes == 200)
        #expect(try await transport.send(.get, server.url()).text == "done")
    }

    @Test(arguments: ContractTransport.all)
    func `other requests go on`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.stalled, .ok("still here"))
        defer { server.stop() }
        let task = Task { try await transport.send(.get, server.url()) }
        try await server.wait { $0.requests.count == 1 }
        await expectCancelled([task])
        for _ in 0..<10 { #expect(try await transport.send(.get, server.url()).text == "still here") }
    }
}
