import TestSupport
import Testing

@testable import CurlTransport

@Suite("Deadlines")
struct DeadlineHeapTests {
    private func time(_ nanoseconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(nanoseconds)) }

    @Test func `the earliest is due first`() {
        var heap = DeadlineHeap()
        heap.set(0, to: time(30))
        heap.set(1, to: time(10))
        heap.set(2, to: time(20))
        #expect(heap.earliest == time(10))
        #expect(heap.popDue(time(25)) == 1)
        #expect(heap.popDue(time(25)) == 2)
        #expect(heap.popDue(time(25)) == nil)
        #expect(heap.earliest == time(30))
    }

    /// Regression: a check that was only to come soon postponed a timeout.
    @Test func `an earlier deadline stays`() {
        var heap = DeadlineHeap()
        heap.set(0, to: time(10))
        heap.set(0, noLaterThan: time(20))
        #expect(heap.earliest == time(10))
        heap.set(0, noLaterThan: time(5))
        heap.set(1, noLaterThan: time(7))
        #expect(heap.popDue(time(100)) == 0 && heap.popDue(time(100)) == 1 && heap.isEmpty)
    }

    @Test func `setting a deadline again moves it`() {
        var heap = DeadlineHeap()
        heap.set(0, to: time(10))
        heap.set(1, to: time(20))
        heap.set(0, to: time(30))
        #expect(heap.popDue(time(100)) == 1)
        #expect(heap.popDue(time(100)) == 0)
        #expect(heap.isEmpty)
    }

    @Test func `removing a deadline leaves nothing behind`() {
        var heap = DeadlineHeap()
        for slot in 0..<100 { heap.set(slot, to: time(1000 - slot)) }
        for slot in 0..<100 where slot != 50 { heap.remove(slot) }
        heap.remove(50_000)
        #expect(heap.popDue(time(2000)) == 50)
        #expect(heap.isEmpty)
        #expect(heap.earliest == nil)
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
                heap.set(slot, to: time(at))
                model[slot] = at
            } else if Bool.random(using: &random) {
                heap.remove(slot)
                model[slot] = nil
            } else if let first = model.min(by: { $0.value < $1.value }) {
                #expect(heap.popDue(time(first.value)) == first.key)
                model[first.key] = nil
            }
            #expect(heap.earliest == model.values.min().map { time($0) })
        }
    }
}
