import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The engine's life cycle", .patience(minutes: 1), .serialized)
struct EngineLifeTests {
    private func request(_ url: String) throws -> TransportRequest {
        var request = TransportRequest(url: try RequestURL(url))
        request.options.totalTimeout = .seconds(30)
        return request
    }

    private func code(_ task: Task<Data, any Error>) async -> NetworkError.Code? { await failure(task)?.code }

    private func failure(_ task: Task<Data, any Error>) async -> NetworkError? {
        do {
            _ = try await task.value
            return nil
        } catch { return error as? NetworkError }
    }

    /// Regression: the transfer ended in libcurl's first call, after which the loop had nothing to wait for, and its
    /// caller never received the result.
    @Test func `the caller is told of an end in the last round`() async throws {
        let loop = try CurlLoop(limits: LoopLimits())
        var request = try request("http://127.0.0.1:1/")
        request.options.addressPolicy = .custom { _ in false }
        let transfer = try Transfer(request, over: loop)
        let outcome = Task { try await Waiter.wait(isOnLoop: false) { transfer.channel.attach($0) } }
        // The loop takes both messages of one job together.
        await Task(executorPreference: loop.executor) {
            loop.start(transfer)
            loop.shutDown(within: .seconds(30))
        }.value
        await #expect { try await outcome.value } throws: { ($0 as? NetworkError)?.code == .addressRefused }
    }

    @Test(arguments: CurlNetworkDispatcher.Configuration.Scheduling.allCases)
    func `the loop is scheduled as asked`(scheduling: CurlNetworkDispatcher.Configuration.Scheduling) async throws {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.scheduling = scheduling
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let executor = try dispatcher.loopExecutor()
        let isInBatches = await Task(executorPreference: executor) { LoopThread.isScheduledInBatches }.value
        #expect(isInBatches == (scheduling == .batch))
    }

    @Test func `a graceful shutdown lets running requests end, and refuses new ones`() async throws {
        let gate = Gate()
        try await withServer([
            .read, .wait(until: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try request(server.url())
            let running = Task { try await dispatcher.send(request).body.collect() }
            try await server.wait { $0.requests.count == 1 }
            let shutDown = Task { await dispatcher.shutDown(within: .seconds(20)) }
            // The refusal shows that the shutdown has begun. A request that came before it would be one that runs.
            var probe = request
            probe.options.totalTimeout = .milliseconds(50)
            let refused = probe
            while await code(Task { try await dispatcher.send(refused).body.collect() }) != .shutDown {
                try Task.checkCancellation()
                await Task.yield()
            }
            gate.open()
            #expect(try await running.value == Data("ok".utf8))
            await shutDown.value
            let late = await failure(Task { try await dispatcher.send(request).body.collect() })
            #expect(late?.code == .shutDown && late?.phase == .preparing)
        }
    }

    /// Regression: a request that a server may have executed failed as one that was refused.
    @Test func `a request that has not ended in time fails, in the phase that it had reached`() async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        for patience in [Duration.zero, .milliseconds(50)] {
            let dispatcher = CurlNetworkDispatcher()
            let request = try request(server.url())
            let before = server.requests.count
            let running = Task { try await dispatcher.send(request).body.collect() }
            try await server.wait { $0.requests.count == before + 1 }
            await dispatcher.shutDown(within: patience)
            let failure = await failure(running)
            #expect(failure?.code == .shutDown && failure?.phase == .waiting)
        }
    }

    @Test func `a body that has not ended in time fails while it is received`() async throws {
        try await withServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .stall]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let response = try await dispatcher.send(try request(server.url()))
            await dispatcher.shutDown(within: .zero)
            let failure = await failure(Task { try await response.body.collect() })
            #expect(failure?.code == .shutDown && failure?.phase == .receiving)
        }
    }

    @Test func `a request that waits for its turn fails in the queue`() async throws {
        try await withServer(.stalled) { server in
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnectionsPerOrigin = 1
            configuration.maximumQueued = 1
            let dispatcher = CurlNetworkDispatcher(configuration: configuration)
            let request = try request(server.url())
            let running = Task { try await dispatcher.send(request).body.collect() }
            try await server.wait { $0.requests.count == 1 }
            // Started on the loop's own thread, the two reach the loop in this order.
            let executor = try dispatcher.loopExecutor()
            let waiting = Task(executorPreference: executor) { try await dispatcher.send(request).body.collect() }
            let refused = Task(executorPreference: executor) { try await dispatcher.send(request).body.collect() }
            #expect(await code(refused) == .overloaded)
            await dispatcher.shutDown(within: .zero)
            #expect(await failure(running)?.phase == .waiting)
            let failure = await failure(waiting)
            #expect(failure?.code == .shutDown && failure?.phase == .queued)
        }
    }

    /// The call has ended for its caller, and the loop keeps the transfer until its lookup ends.
    @Test(.enabled(if: looksUpOverHTTPS))
    func `a request that is over is not waited for, although its lookup goes on`() async throws {
        try await withServer([.stall]) { names in
            let dispatcher = CurlNetworkDispatcher()
            var request = try request("http://unknown.example/")
            request.options.names.dnsOverHTTPS = "https://127.0.0.1:\(names.port)/dns-query"
            request.options.connectTimeout = .seconds(50)
            let asking = request
            let call = Task { try await dispatcher.send(asking).body.collect() }
            try await names.wait { $0.connectionCount > 0 }
            call.cancel()
            #expect(await code(call) == .cancelled)
            let start = ContinuousClock.now
            await dispatcher.shutDown(within: .seconds(30))
            #expect(ContinuousClock.now - start < .seconds(15))
            try await names.wait { $0.connectionsEndedByPeer == $0.connectionCount }
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .nanoseconds(Int64.max), .milliseconds(-1)])
    func `any patience is accepted`(patience: Duration) async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        #expect(try await dispatcher.send(try request(server.url())).body.collect() == Data("x".utf8))
        await dispatcher.shutDown(within: patience)
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
        await #expect { try await dispatcher.send(try request("http://127.0.0.1:1/")) } throws: {
            ($0 as? NetworkError)?.code == .shutDown
        }
    }

    @Test func `a body that is read keeps its dispatcher`() async throws {
        let gate = Gate()
        try await withServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .wait(until: gate), .send("cd"),
        ]) { server in
            let response = try await CurlNetworkDispatcher().send(try request(server.url()))
            gate.open()
            #expect(try await response.body.collect() == Data("abcd".utf8))
        }
    }

    @Test func `several loops share the origins`() async throws {
        let servers = try (0..<8).map { _ in try ScriptedServer(.ok("x")) }
        defer { for server in servers { server.stop() } }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.loops = 4
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers {
                let request = try request(server.url())
                for _ in 0..<20 { group.addTask { _ = try await dispatcher.send(request).body.collect() } }
            }
            try await group.waitForAll()
        }
        #expect(servers.allSatisfy { $0.requests.count == 20 })
        await dispatcher.shutDown(within: .seconds(10))
    }

    @Test func `a thousand dispatchers leave nothing behind`() async throws {
        try await withServer(.ok("x")) { server in
            let request = try request(server.url())
            func one() async throws {
                let dispatcher = CurlNetworkDispatcher()
                _ = try await dispatcher.send(request).body.collect()
                await dispatcher.shutDown(within: .seconds(10))
            }
            for _ in 0..<20 { try await one() }
            try await server.wait { $0.connectionsEndedByPeer == 20 }
            let before = ProcessFigures.now
            for _ in 0..<1_000 { try await one() }
            try await server.wait { $0.connectionsEndedByPeer == 1_020 }
            let after = ProcessFigures.now
            // Other suites run in this process at the same time; a leak of one per dispatcher would still stand out.
            #expect(after.descriptors < before.descriptors + 400)
            #expect(after.threads < before.threads + 400)
            #expect(after.residentKilobytes < before.residentKilobytes + 200_000)
        }
    }

    @Test func `a child inherits no descriptor`() async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher()
            _ = try await dispatcher.send(try request(server.url())).body.collect()
            let ours = try dispatcherSockets(of: server)
            #expect(!ours.isEmpty)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/ls")
            process.arguments = ["-l", "/proc/self/fd"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let listing = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            for name in ours { #expect(!listing.contains(name)) }
            #expect(!listing.contains("eventpoll"))
            #expect(!listing.contains("eventfd"))
            await dispatcher.shutDown(within: .zero)
        }
    }

    /// Regression: a transfer whose socket was closed at the end kept the loop, and the loop its transfer.
    @Test func `loops that end during a handshake are released`() async throws {
        try await withServer([.stall]) { server in
            let request = try request("https://127.0.0.1:\(server.port)/")
            func epolls() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                    return link == "anon_inode:[eventpoll]"
                }
            }
            let before = try epolls()
            for number in 1...64 {
                let dispatcher = CurlNetworkDispatcher()
                let exchange = Task { try await dispatcher.send(request) }
                try await server.wait { $0.connectionCount == number }
                await dispatcher.shutDown(within: .zero)
                await #expect(throws: NetworkError.self) { try await exchange.value }
            }
            // Other tests have loops of their own.
            #expect(try epolls() < before + 48)
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

    /// A reused handle reports the times of its last transfer, as if it were already connected.
    @Test func `a handle that is used again keeps the connect timeout`() async throws {
        let server = try ScriptedServer(.ok("x"))
        let full = try FullListener()
        defer { full.stop() }
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        for url in [server.url(), full.url()] {
            var request = try request(url)
            // Only the second request is to have it, and the first one may wait for a core.
            request.options.connectTimeout = url == full.url() ? .milliseconds(2_500) : .seconds(25)
            let sent = request
            let end = await code(Task { try await dispatcher.send(sent).body.collect() })
            #expect(end == (url == full.url() ? .connectTimeout : nil))
        }
        await dispatcher.shutDown(within: .zero)
    }

    /// The sockets of this process that are connected to the server, as named in /proc.
    private func dispatcherSockets(of server: ScriptedServer) throws -> [String] {
        let port = String(server.port, radix: 16, uppercase: true)
        let table = try ProcessFigures.text("/proc/self/net/tcp")
        return table.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[2].hasSuffix(":" + port) else { return nil }
            return "socket:[\(fields[9])]"
        }
    }

    @Test(.enabled(if: Localhost.hasName, "/etc/hosts has no localhost"))
    func `a burst to a cold name starts few resolver threads`() async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try request("http://localhost:\(server.port)/")
            let before = ProcessFigures.now.threads
            let most = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1_000 {
                    group.addTask {
                        _ = try await dispatcher.send(request).body.collect()
                        most.raise(to: ProcessFigures.now.threads)
                    }
                }
                try await group.waitForAll()
            }
            // This test's server has a thread for each of up to 128 connections, and other suites have threads of their
            // own.
            #expect(most.value < before + 500)
            await dispatcher.shutDown(within: .zero)
        }
    }
}

/// The kernel's figures about this process.
struct ProcessFigures {
    var descriptors: Int
    var threads: Int
    var residentKilobytes: Int

    static var now: ProcessFigures {
        let files = FileManager.default
        let status = (try? text("/proc/self/status")) ?? ""
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        return ProcessFigures(
            descriptors: (try? files.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0,
            threads: number("Threads"),
            residentKilobytes: number("VmRSS")
        )
    }

    /// Returns the text of a file in /proc, which reports no size.
    static func text(_ path: String) throws -> String {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }
}
