import CLibrary
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// A process without descriptors, for as short as can be: libdispatch watches its busy threads by a file that it opens
/// each second, and traps where it can't (`_dispatch_workq_monitor_pools`). `scripts/test` runs the suite alone.
@Suite("Without descriptors", .patience(minutes: 1))
struct ShortDescriptorsTests {
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
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)
            limit.rlim_cur = 256
            setrlimit(__rlimit_resource_t(7), &limit)
            let server = try ScriptedServer(.ok("x"))
            let dispatcher = CurlNetworkDispatcher()
            // Starts the loop, which takes its own descriptors at that time.
            _ = try await OptionExchange(server.url(), over: dispatcher)
            let late = CurlNetworkDispatcher()
            var taken = ShortDescriptorsTests.exhaust()
            #expect(taken.count > 50)

            let error = await expectFailure(.connectFailed) {
                try await OptionExchange(server.url(), over: dispatcher) { $0.connection.isFresh = true }
            }
            #expect(error?.underlying?.domain == "errno")
            #expect(error?.underlying?.code == Int(EMFILE))
            #expect(error?.phase == .connecting)
            // The kept connection still works.
            #expect(try await OptionExchange(server.url(), over: dispatcher).text == "x")
            // A loop that can't be started is an error too, and starts later.
            let unborn = await expectFailure(.unclassified) { try await OptionExchange(server.url(), over: late) }
            #expect(unborn?.underlying?.code == Int(EMFILE))

            for descriptor in taken.suffix(20) { close(descriptor) }
            taken.removeLast(20)
            #expect(try await OptionExchange(server.url(), over: late).text == "x")
            let fresh = try await OptionExchange(server.url(), over: dispatcher) { $0.connection.isFresh = true }
            #expect(fresh.text == "x")
        }
    }

    @Test func `a name that can't be looked up for want of descriptors is an error`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)
            limit.rlim_cur = 256
            setrlimit(__rlimit_resource_t(7), &limit)
            let server = try ScriptedServer(.ok("x"))
            let dispatcher = CurlNetworkDispatcher()
            _ = try await OptionExchange(server.url(), over: dispatcher)
            let taken = ShortDescriptorsTests.exhaust()
            await #expect(throws: NetworkError.self) {
                try await OptionExchange("http://nonexistent.invalid/", over: dispatcher)
            }
            for descriptor in taken { close(descriptor) }
            #expect(try await OptionExchange("http://localhost:\(server.port)/", over: dispatcher).text == "x")
        }
    }
}
