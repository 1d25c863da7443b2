import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// Cancellations of many exchanges; `InterruptionContract` has one after the other, in each phase.
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
        try await withServer(.stalled) { server in
            for _ in 0..<Self.count {
                let task = Task {
                    while !Task.isCancelled { await Task.yield() }
                    return try await transport.send(.get, server.url())
                }
                await expectCancelled([task])
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation right after the start is a cancellation`(transport: ContractTransport) async throws {
        try await withServer(.stalled) { server in
            for _ in 0..<Self.count {
                await expectCancelled([Task { try await transport.send(.post, server.url(), body: Data("x".utf8)) }])
            }
            try await server.wait { $0.connectionsEndedByPeer == $0.connectionCount }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation during the wait ends the connections`(transport: ContractTransport) async throws {
        try await withServer(.stalled) { server in
            let tasks = (0..<Self.count).map { number in
                Task { try await transport.send(.get, server.url("/\(number)")) }
            }
            try await server.wait { $0.requests.count == Self.count }
            await expectCancelled(tasks)
            try await server.wait { $0.connectionsEndedByPeer == Self.count }
            #expect(server.requests.count == Self.count)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancellation during the body ends the connections`(transport: ContractTransport) async throws {
        let head = Script.head(200, fields: [("Content-Length", "100000")])
        try await withServer([.read, .send(head + PatternBytes.make(count: 50_000)), .stall]) { server in
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
    }

    @Test(arguments: ContractTransport.all)
    func `a race with the response has one outcome`(transport: ContractTransport) async throws {
        try await withServer(.ok("done")) { server in
            let outcomes = try await atOnce(200) { number in
                let task = Task { try await transport.send(.get, server.url("/\(number)")) }
                for _ in 0..<(number * 3) { await Task.yield() }
                task.cancel()
                switch await task.result {
                case .success(let answer): #expect(answer.text == "done")
                case .failure(let error): #expect(NetworkError.code(of: error) == .cancelled, "\(error)")
                }
                return 1
            }
            #expect(outcomes.count == 200)
            #expect(try await transport.send(.get, server.url()).text == "done")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `other requests go on`(transport: ContractTransport) async throws {
        try await withServer(.stalled, .ok("still here")) { server in
            let task = Task { try await transport.send(.get, server.url()) }
            try await server.wait { $0.requests.count == 1 }
            await expectCancelled([task])
            for _ in 0..<10 { #expect(try await transport.send(.get, server.url()).text == "still here") }
        }
    }
}

/// A caller whose task is cancelled receives Swift's own error from every verb and every sequence.
@Suite(.patience(minutes: 1))
struct CancellationErrorContract {
    @Test(arguments: ContractTransport.all, ReadingVerb.allCases.flatMap { verb in [true, false].map { (verb, $0) } })
    func `a cancelled caller receives CancellationError`(
        transport: ContractTransport, moment: (verb: ReadingVerb, isInBody: Bool)
    ) async throws {
        let (verb, isInBody) = moment
        let isThere = Gate()
        let type = verb == .events ? "text/event-stream" : "text/plain"
        let head = Script.head(200, fields: [("Content-Length", "1000"), ("Content-Type", type)])
        let start: [Script.Step] = isInBody ? [.send(head + Data("1\n".utf8))] : []
        try await withServer(Script([.read] + start + [.open(isThere), .stall])) { server in
            try await withFolder { folder in
                let client = transport.client.with { $0.interceptors.append(.adapting { _ in }) }
                let task = Task { try await verb.run(over: client, server.url(), in: folder) }
                try await isThere.wait()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the code matches it, and interceptors see the code`(transport: ContractTransport) async throws {
        let isThere = Gate()
        try await withServer([.read, .open(isThere), .stall]) { server in
            let watch = Watch()
            let client = transport.client.with { $0.interceptors.append(watch) }
            let task = Task {
                do {
                    _ = try await client.send(RequestData(path: server.url()), as: .data)
                    return false
                } catch NetworkError.cancelled {
                    return true
                }
            }
            try await isThere.wait()
            task.cancel()
            #expect(try await task.value)
            #expect(watch.seen.withLock { $0?.code } == .cancelled)
        }
    }

    private final class Watch: Interceptor {
        let seen = Guarded<NetworkError?>(nil)

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            do { return try await next(request) } catch let error as NetworkError {
                seen.withLock { $0 = error }
                throw error
            }
        }
    }
}
