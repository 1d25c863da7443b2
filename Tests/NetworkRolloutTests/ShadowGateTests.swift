import Foundation
import NetworkLayer
import Testing
import TestSupport

@testable import NetworkRollout

@Suite("The places of shadows", .patience(minutes: 1))
struct ShadowGateTests {
    /// Regression: a wait that was cancelled left its continuation behind until the last shadow had ended.
    @Test func `waits that are cancelled leave nothing behind`() async {
        var options = ShadowTransport.Options()
        options.maximumLoad = 1
        let gate = ShadowGate(options)
        #expect(gate.begins())
        let waits = (0..<8).map { _ in Task { await gate.waitUntilIdle() } }
        while gate.waiterCount < 8, !Task.isCancelled { await Task.yield() }
        for wait in waits { wait.cancel() }
        for wait in waits { await wait.value }
        #expect(gate.waiterCount == 0)
        let waiting = Task { await gate.waitUntilIdle() }
        while gate.waiterCount < 1, !Task.isCancelled { await Task.yield() }
        gate.finish()
        await waiting.value
        #expect(gate.waiterCount == 0)
    }

    @Test func `the load of the process is its share of the cores`() {
        let load = ProcessLoad()
        let end = ContinuousClock.now + .milliseconds(300)
        while ContinuousClock.now < end {}
        // This thread computed all the time; other tests run besides.
        #expect(load.current > 0)
        #expect(load.current <= 1.1)
    }
}
