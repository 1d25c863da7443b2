import CLibrary
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The process's exit", .patience(minutes: 1))
struct ProcessExitTests {
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
            _ = try await OptionExchange(server.url(), over: CurlNetworkDispatcher())
            exit(0)
        }
    }

    /// Regression: the exit of a forked child waited a second for each loop of its parent, whose threads it lacks.
    @Test func `a forked child exits at once`() async {
        await #expect(processExitsWith: .success) {
            let server = try ScriptedServer(.ok())
            // Many loops: a second each stands out on a busy machine too.
            let dispatchers = (0..<24).map { _ in CurlNetworkDispatcher() }
            for dispatcher in dispatchers { _ = try await OptionExchange(server.url(), over: dispatcher) }
            // Swift hides fork(2).
            let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: (@convention(c) () -> pid_t).self)
            let begin = ContinuousClock.now
            let child = fork()
            if child == 0 { exit(0) }
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child && status == 0)
            #expect(ContinuousClock.now - begin < .seconds(20))
            // The parent's loops go on.
            for dispatcher in dispatchers { _ = try await OptionExchange(server.url(), over: dispatcher) }
        }
    }
}
