import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Signals", .patience(minutes: 1))
struct SignalTests {
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
}
