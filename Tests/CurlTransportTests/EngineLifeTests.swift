import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The engine's life cycle", .patience(minutes: 1), .serialized)
struct EngineLifeTests {
    /// Regression: the transfer ended in libcurl's first call, after which the loop had nothing to wait for, and its
    /// caller never received the result.
    @Test func `the caller is told of an end in the last round`() async throws {
        let loop = try CurlLoop(limits: LoopLimits())
        let request = try makeRequest("http://127.0.0.1:1/") { $0.addressPolicy = .custom { _ in false } }
        let transfer = try Transfer(request, over: loop)
        let outcome = Task { try await Waiter.wait(isOnLoop: false) { transfer.channel.attach($0) } }
        // The loop takes both messages of one job together.
        await Task(executorPreference: loop.executor) {
            loop.start(transfer)
            loop.shutDown(within: .seconds(30))
        }.value
        await expectFailure(.addressRefused) { try await outcome.value }
    }

    @Test(arguments: CurlNetworkDispatcher.Configuration.Scheduling.allCases)
    func `the loop is scheduled as asked`(scheduling: CurlNetworkDispatcher.Configuration.Scheduling) async throws {
        let dispatcher = CurlNetworkDispatcher { $0.scheduling = scheduling }
        let executor = try dispatcher.loopExecutor()
        let isInBatches = await Task(executorPreference: executor) { LoopThread.isScheduledInBatches }.value
        #expect(isInBatches == (scheduling == .batch))
    }

    // MARK: Shutting down

    @Test func `a graceful shutdown lets running requests end, and refuses new ones`() async throws {
        let gate = Gate()
        try await withServer([.read, .wait(until: gate), .ok("ok")]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let url = server.url()
            let running = Task { try await Exchange(url, over: dispatcher).text }
            try await server.wait { $0.requests.count == 1 }
            let shutDown = Task { await dispatcher.shutDown(within: .seconds(20)) }
            // The refusal shows that the shutdown has begun. A request that came before it would be one that runs.
            var refusal: NetworkError?
            while refusal?.code != .shutDown {
                try Task.checkCancellation()
                do {
                    _ = try await Exchange(url, over: dispatcher) { $0.totalTimeout = .milliseconds(50) }
                } catch { refusal = error as? NetworkError }
            }
            gate.open()
            #expect(try await running.value == "ok")
            await shutDown.value
            await expectFailure(.shutDown, in: .preparing) { try await Exchange(url, over: dispatcher) }
        }
    }

    /// Regression: a request that a server may have executed failed as one that was refused.
    @Test(arguments: [Duration.zero, .milliseconds(50)])
    func `a request that has not ended in time fails, in the phase that it had reached`(patience: Duration) async throws
    {
        try await withServer(.stalled) { server in
            let dispatcher = CurlNetworkDispatcher()
            let url = server.url()
            let running = Task { try await Exchange(url, over: dispatcher) }
            try await server.wait { $0.requests.count == 1 }
            await dispatcher.shutDown(within: patience)
            await expectFailure(.shutDown, in: .waiting) { try await running.value }
        }
    }

    @Test func `a body that has not ended in time fails while it is received`() async throws {
        try await withServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .stall]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let response = try await dispatcher.start(server.url())
            await dispatcher.shutDown(within: .zero)
            await expectFailure(.shutDown, in: .receiving) { try await response.body.collect() }
        }
    }

    @Test func `a request that waits for its turn fails in the queue`() async throws {
        try await withServer(.stalled) { server in
            let dispatcher = CurlNetworkDispatcher { ($0.maximumConnectionsPerOrigin, $0.maximumQueued) = (1, 1) }
            let url = server.url()
            let running = Task { try await Exchange(url, over: dispatcher) }
            try await server.wait { $0.requests.count == 1 }
            // Started on the loop's own thread, the two reach the loop in this order.
            let executor = try dispatcher.loopExecutor()
            let waiting = Task(executorPreference: executor) { try await Exchange(url, over: dispatcher) }
            let refused = Task(executorPreference: executor) { try await Exchange(url, over: dispatcher) }
            await expectFailure(.overloaded) { try await refused.value }
            await dispatcher.shutDown(within: .zero)
            await expectFailure(.shutDown, in: .waiting) { try await running.value }
            await expectFailure(.shutDown, in: .queued) { try await waiting.value }
        }
    }

    @Test func `dropping the dispatcher fails the running requests`() async throws {
        try await withServer(.stalled) { server in
            let loop = try CurlLoop(limits: LoopLimits())
            let request = try makeRequest(server.url())
            let transfer = try Transfer(request, over: loop)
            let outcome = Task {
                try await Waiter.wait(isOnLoop: false) { continuation in
                    transfer.channel.attach(continuation)
                    loop.start(transfer)
                }
            }
            try await server.wait { $0.requests.count == 1 }
            loop.shutDown(within: .zero)
            await expectFailure(.shutDown) { try await outcome.value }
            let late = try Transfer(request, over: loop)
            loop.start(late)
            await expectFailure(.shutDown) { try await Waiter.wait(isOnLoop: false) { late.channel.attach($0) } }
        }
    }

    /// The call has ended for its caller, and the loop keeps the transfer until its lookup ends.
    @Test(.enabled(if: looksUpOverHTTPS))
    func `a request that is over is not waited for, although its lookup goes on`() async throws {
        try await withServer([.stall]) { names in
            let dispatcher = CurlNetworkDispatcher()
            let call = Task {
                try await Exchange("http://unknown.example/", over: dispatcher) {
                    $0.lookUp(at: names)
                    $0.connectTimeout = .seconds(50)
                }
            }
            try await names.wait { $0.connectionCount > 0 }
            call.cancel()
            await expectFailure(.cancelled) { try await call.value }
            let start = ContinuousClock.now
            await dispatcher.shutDown(within: .seconds(30))
            #expect(ContinuousClock.now - start < .seconds(15))
            try await names.wait { $0.connectionsEndedByPeer == $0.connectionCount }
        }
    }

    /// Regression: more seconds than 64 bits can hold trapped.
    @Test(
        arguments: [
            .seconds(Int64.max), .seconds(Int64.min), .nanoseconds(Int64.max), .milliseconds(-1),
            .seconds(Int64.max) * 2, .seconds(Int64.min) * 2, .zero,
        ] as [Duration])
    func `any patience is accepted`(patience: Duration) async throws {
        try await withServer(.ok("x")) { server async throws in
            let dispatcher = CurlNetworkDispatcher()
            #expect(try await Exchange(server.url(), over: dispatcher).text == "x")
            await dispatcher.shutDown(within: patience)
        }
    }

    @Test func `a time too far off is the last one there is`() {
        let now = MonotonicTime.now
        #expect(now + .seconds(Int64.max) == .distantFuture)
        #expect(now + .seconds(Int64.min) < now)
        #expect(now.adding(milliseconds: .max) == .distantFuture)
        #expect(now.milliseconds(until: .distantFuture) == .max)
        #expect(now.milliseconds(until: now + .nanoseconds(1)) == 1)
        #expect(MonotonicTime.distantFuture.milliseconds(until: now) == 0)
    }

    @Test func `shutting down an idle dispatcher ends at once, twice`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        await dispatcher.shutDown(within: .seconds(20))
        await dispatcher.shutDown(within: .zero)
        await expectFailure(.shutDown) { try await Exchange("http://127.0.0.1:1/", over: dispatcher) }
    }

    @Test func `a group that was shut down starts no loop`() async throws {
        let group = LoopGroup(limits: LoopLimits())
        let loop = try group.first()
        #expect(try group.first() === loop)
        for loop in group.shutDown(within: .zero) { await loop.end.wait() }
        expectFailure(.shutDown) { _ = try group.first() }
    }

    @Test func `a body that is read keeps its dispatcher`() async throws {
        let (gate, start) = (Gate(), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        try await withServer([.read, .send(start), .wait(until: gate), .send("cd")]) { server in
            let response = try await CurlNetworkDispatcher().start(server.url())
            gate.open()
            #expect(try await response.body.collect() == Data("abcd".utf8))
        }
    }

    @Test func `several loops share the origins`() async throws {
        let servers = try (0..<8).map { _ in try ScriptedServer(.ok("x")) }
        defer { for server in servers { server.stop() } }
        let dispatcher = CurlNetworkDispatcher { $0.loops = 4 }
        _ = try await atOnce(160) { try await Exchange(servers[$0 % 8].url(), over: dispatcher).text }
        #expect(servers.allSatisfy { $0.requests.count == 20 })
        await dispatcher.shutDown(within: .seconds(10))
    }

    // MARK: What remains

    // In processes of their own: other tests have sockets, threads and loops too.

    @Test func `a thousand dispatchers leave nothing behind`() async {
        await #expect(processExitsWith: .success) {
            try await withServer(.ok("x")) { server in
                func one() async throws {
                    let dispatcher = CurlNetworkDispatcher()
                    _ = try await Exchange(server.url(), over: dispatcher)
                    await dispatcher.shutDown(within: .seconds(10))
                }
                for _ in 0..<20 { try await one() }
                try await server.wait { $0.connectionsEndedByPeer == 20 }
                let before = ProcessFigures.now
                for _ in 0..<1_000 { try await one() }
                try await server.wait { $0.connectionsEndedByPeer == 1_020 }
                let after = ProcessFigures.now
                #expect(after.descriptors < before.descriptors + 20)
                #expect(after.threads < before.threads + 20)
                // AddressSanitizer keeps freed memory for some time; a leak would be one for each dispatcher.
                #expect(after.residentKilobytes < before.residentKilobytes + 200_000)
            }
        }
    }

    /// Regression: a transfer whose socket was closed at the end kept the loop, and the loop its transfer.
    @Test func `loops that end during a handshake are released`() async {
        await #expect(processExitsWith: .success) {
            try await withServer([.stall]) { server in
                func epolls() throws -> Int {
                    try OwnSockets.descriptors().count { OwnSockets.link(of: $0) == "anon_inode:[eventpoll]" }
                }
                let before = try epolls()
                for number in 1...64 {
                    let dispatcher = CurlNetworkDispatcher()
                    let exchange = Task { try await dispatcher.start("https://127.0.0.1:\(server.port)/") }
                    try await server.wait { $0.connectionCount == number }
                    await dispatcher.shutDown(within: .zero)
                    await #expect(throws: NetworkError.self) { try await exchange.value }
                }
                #expect(try epolls() < before + 8)
            }
        }
    }

    /// Regression: the multi handle was released while still open, which trapped.
    @Test func `a thread that can't be started is an error`() {
        #expect(throws: NetworkError.self) {
            _ = try CurlLoop(limits: LoopLimits()) { _, _ in
                throw NetworkError(.unclassified, "no thread")
            }
        }
    }

    @Test(.enabled(if: hasLocalhost, "/etc/hosts has no localhost"))
    func `a burst to a cold name starts few resolver threads`() async {
        await #expect(processExitsWith: .success) {
            try await withServer(.ok("x")) { server in
                let dispatcher = CurlNetworkDispatcher()
                let (url, most, before) = ("http://localhost:\(server.port)/", Counter(), ProcessFigures.now.threads)
                _ = try await atOnce(1_000) { _ in
                    _ = try await Exchange(url, over: dispatcher)
                    most.raise(to: ProcessFigures.now.threads)
                }
                // The server has a thread for each of up to 128 connections.
                #expect(most.value < before + 250)
                await dispatcher.shutDown(within: .zero)
            }
        }
    }
}
