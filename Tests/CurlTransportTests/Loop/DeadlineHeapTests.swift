import TestSupport
import Testing

@testable import CurlTransport

@Suite("Deadlines")
struct DeadlineHeapTests {
    private func time(_ nanoseconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(nanoseconds)) }

    @Test func `the earliest is due first`() {
        var heap = DeadlineHeap()
        heap.set(0, noLaterThan: time(30))
        heap.set(1, noLaterThan: time(10))
        heap.set(2, noLaterThan: time(20))
        #expect(heap.earliest == time(10))
        #expect(heap.popDue(time(25)) == 1)
        #expect(heap.popDue(time(25)) == 2)
        #expect(heap.popDue(time(25)) == nil)
        #expect(heap.earliest == time(30))
    }

    /// Regression: a check that was only to come soon postponed a timeout.
    @Test func `an earlier deadline stays`() {
        var heap = DeadlineHeap()
        heap.set(0, noLaterThan: time(10))
        heap.set(0, noLaterThan: time(20))
        #expect(heap.earliest == time(10))
        heap.set(0, noLaterThan: time(5))
        heap.set(1, noLaterThan: time(7))
        #expect(heap.popDue(time(100)) == 0 && heap.popDue(time(100)) == 1 && heap.earliest == nil)
    }

    @Test func `the heap agrees with a sorted list under random use`() {
        var random = SeededGenerator(seed: 7)
        var heap = DeadlineHeap()
        var model: [Int: Int] = [:]
        for step in 0..<20_000 {
            let slot = Int.random(in: 0..<200, using: &random)
            if Bool.random(using: &random) {
                // Distinct times, so that there is only one order.
                let at = Int.random(in: 0..<1_000, using: &random) * 20_000 + step
                heap.set(slot, noLaterThan: time(at))
                model[slot] = min(at, model[slot] ?? at)
            } else if let first = model.min(by: { $0.value < $1.value }) {
                #expect(heap.popDue(time(first.value)) == first.key)
                model[first.key] = nil
            }
            #expect(heap.earliest == model.values.min().map { time($0) })
        }
    }
}
