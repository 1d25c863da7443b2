import CLibrary
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// What the loop has to do with its process: signals, exit, and the descriptors of other programs.
@Suite("The process", .patience(minutes: 1))
struct ProcessTests {
    /// TLS libraries write without MSG_NOSIGNAL. After the peer has gone, the writing thread gets SIGPIPE, whose
    /// default action ends the process. Also, the program's signal handlers must not run on the loop's thread.
    @Test func `the loop's thread receives no signal`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        let executor = try dispatcher.loopExecutor()
        let blocked = await Task(executorPreference: executor) { Self.blockedSignals() }.value
        #expect(blocked.isSuperset(of: [SIGPIPE, SIGTERM, SIGALRM]))
        // These signals still reach the thread, for the program's crash handler and profiler.
        #expect(blocked.isDisjoint(with: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGPROF]))
        await dispatcher.shutDown(within: .seconds(5))
    }

    /// Returns the signals that the calling thread blocks.
    private static func blockedSignals() -> Set<Int32> {
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        return Set((1..<32).filter { sigismember(&mask, $0) == 1 })
    }

    /// Regression: a loop that began after the others had been stopped ran on while libraries were unloaded.
    @Test func `no loop begins while the process exits`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // Handlers run in the opposite order: this one after the loops have been stopped.
            atexit {
                do {
                    _ = try LoopGroup(limits: LoopLimits()).first()
                } catch {
                    _exit((error as? NetworkError)?.code == .shutDown ? 7 : 1)
                }
                _exit(2)
            }
            let server = try ScriptedServer(.ok())
            _ = try await Exchange(server.url(), over: CurlNetworkDispatcher())
            exit(0)
        }
    }

    /// Regression: the exit of a forked child waited a second for each loop of its parent, whose threads it lacks.
    @Test func `a forked child exits at once`() async {
        await #expect(processExitsWith: .success) {
            let server = try ScriptedServer(.ok())
            // Many loops: a second each stands out on a busy machine too.
            let dispatchers = (0..<24).map { _ in CurlNetworkDispatcher() }
            for dispatcher in dispatchers { _ = try await Exchange(server.url(), over: dispatcher) }
            // Swift hides fork(2).
            let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: (@convention(c) () -> pid_t).self)
            let begin = ContinuousClock.now
            let child = fork()
            if child == 0 { exit(0) }
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child && status == 0)
            #expect(ContinuousClock.now - begin < .seconds(20))
            // The parent's loops go on.
            for dispatcher in dispatchers { _ = try await Exchange(server.url(), over: dispatcher) }
        }
    }

    @Test func `a child inherits no descriptor`() async throws {
        try await withServer(.ok("x")) { server in
            let dispatcher = CurlNetworkDispatcher()
            _ = try await Exchange(server.url(), over: dispatcher)
            let ours = try OwnSockets.connected(to: [Int(server.port)]).compactMap { OwnSockets.link(of: $0) }
            #expect(!ours.isEmpty)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/ls")
            process.arguments = ["-l", "/proc/self/fd"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let listing = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            for name in ours + ["eventpoll", "eventfd"] { #expect(!listing.contains(name)) }
            await dispatcher.shutDown(within: .zero)
        }
    }

    /// libcurl opens the connections of its lookups over HTTPS without the transport's socket callback.
    @Test(.enabled(if: looksUpOverHTTPS)) func `no program inherits a connection of a lookup`() async {
        await #expect(processExitsWith: .success) {
            func sockets(besides names: ScriptedServer) throws -> Set<Int32> {
                let connected = try OwnSockets.descriptors()
                    .filter { SocketName.localPort(of: $0).map { $0 > 0 && $0 != Int(names.port) } == true }
                return Set(connected)
            }
            let names = try ScriptedServer([.stall])
            // Sockets that this process inherited from the test run.
            let others = try sockets(besides: names)
            let dispatcher = CurlNetworkDispatcher()
            let request = Task {
                try await Exchange("http://unknown.example/", over: dispatcher) { $0.lookUp(at: names) }
            }
            try await names.wait { $0.connectionCount > 0 }
            let own = try sockets(besides: names).subtracting(others)
            #expect(!own.isEmpty)
            // The connection exists a moment before libcurl reports it.
            let end = ContinuousClock.now + .seconds(10)
            while own.contains(where: { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 }), end > .now { await Task.yield() }
            #expect(own.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            request.cancel()
            _ = try? await request.value
        }
    }
}

/// A process without descriptors, for as short as can be: libdispatch watches its busy threads by a file that it opens
/// each second, and traps where it can't (`_dispatch_workq_monitor_pools`). `scripts/test` runs the suite alone.
@Suite("Without descriptors", .patience(minutes: 1))
struct ShortDescriptorsTests {
    /// Sets a low limit of descriptors for the process.
    static func limit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = 256
        setrlimit(__rlimit_resource_t(7), &limit)
    }

    /// Takes all remaining descriptors.
    static func exhaust() -> [Int32] {
        var taken: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY)
            guard descriptor >= 0 else { return taken }
            taken.append(descriptor)
        }
    }

    @Test func `requests fail clearly, and go on when there are descriptors again`() async {
        await #expect(processExitsWith: .success) {
            ShortDescriptorsTests.limit()
            let server = try ScriptedServer(.ok("x"))
            let dispatcher = CurlNetworkDispatcher()
            // Starts the loop, which takes its own descriptors at that time.
            _ = try await Exchange(server.url(), over: dispatcher)
            let late = CurlNetworkDispatcher()
            var taken = ShortDescriptorsTests.exhaust()
            #expect(taken.count > 50)

            let error = await expectFailure(.connectFailed, in: .connecting) {
                try await Exchange(server.url(), over: dispatcher) { $0.connection.isFresh = true }
            }
            #expect(error?.underlying?.domain == "errno" && error?.underlying?.code == Int(EMFILE))
            // The kept connection still works.
            #expect(try await Exchange(server.url(), over: dispatcher).text == "x")
            // A loop that can't be started is an error too, and starts later.
            let unborn = await expectFailure(.unclassified) { try await Exchange(server.url(), over: late) }
            #expect(unborn?.underlying?.code == Int(EMFILE))

            for descriptor in taken.suffix(20) { close(descriptor) }
            taken.removeLast(20)
            #expect(try await Exchange(server.url(), over: late).text == "x")
            let fresh = try await Exchange(server.url(), over: dispatcher) { $0.connection.isFresh = true }
            #expect(fresh.text == "x")
        }
    }

    @Test func `a name that can't be looked up for want of descriptors is an error`() async {
        await #expect(processExitsWith: .success) {
            ShortDescriptorsTests.limit()
            let server = try ScriptedServer(.ok("x"))
            let dispatcher = CurlNetworkDispatcher()
            _ = try await Exchange(server.url(), over: dispatcher)
            let taken = ShortDescriptorsTests.exhaust()
            await #expect(throws: NetworkError.self) {
                try await Exchange("http://nonexistent.invalid/", over: dispatcher)
            }
            for descriptor in taken { close(descriptor) }
            #expect(try await Exchange("http://localhost:\(server.port)/", over: dispatcher).text == "x")
        }
    }
}
