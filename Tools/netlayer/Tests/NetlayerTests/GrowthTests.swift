import Testing
import ToolSupport

@testable import netlayer

@Suite("Growth of a process", .patience(minutes: 1)) struct GrowthTests {
    /// Returns the states of a process that warms up, grows in steps of an allocator now and then, and keeps some bytes
    /// and descriptors of each request.
    private static func states(
        _ rounds: Int = 30, keeping kept: Int = 0, descriptors: Int = 0, requests: Int = 20,
        using generator: inout SeededGenerator
    ) -> [Growth.State] {
        var memory = Double.random(in: 20e6...40e6, using: &generator)
        return (1...rounds).map { round in
            let warmUp: Double = 2e6 / Double(round * round)
            let step: Double = Int.random(in: 0..<6, using: &generator) == 0 ? 132 * 1024 : 0
            let pages: Int = Int.random(in: -2...2, using: &generator)
            memory += warmUp + step + Double(kept * requests + pages * 4096)
            return Growth.State(
                process: 0, requests: round * requests, memory: Int(memory), descriptors: 20 + round * descriptors)
        }
    }

    private static func growths(
        seed: UInt64, rounds: Int = 30, keeping kept: Int = 0, descriptors: Int = 0
    ) -> [Growth] {
        var generator = SeededGenerator(seed: seed)
        let first = states(rounds, using: &generator)
        let other = states(rounds, keeping: kept, descriptors: descriptors, using: &generator)
        return Growth.growths([("one", first), ("other", other)], copy: states(rounds, using: &generator))
    }

    @Test func `equal processes are rarely told apart`() {
        let alarms = (1...200).count { Self.growths(seed: $0).contains { $0.decided } }
        #expect(alarms <= 1)
    }

    @Test func `memory and descriptors that requests leave behind are found, in their size`() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let growths = Self.growths(seed: seed, keeping: 20_000, descriptors: 1)
            #expect(growths.map(\.resource) == [.memory, .descriptors])
            #expect(growths.allSatisfy { $0.decided })
            #expect(growths[0].low < 20_000 && growths[0].high > 20_000)
            #expect(abs(growths[1].perRequest - 0.05) < 1e-9)
        }
    }

    @Test func `the process that keeps more is named`() {
        var generator = SeededGenerator(seed: 1)
        let first = Self.states(keeping: 20_000, using: &generator)
        let copy = Self.states(keeping: 20_000, using: &generator)
        let other = Self.states(using: &generator)
        let growth = Growth.growths([("one", first), ("other", other)], copy: copy)[0]
        #expect(growth.decided && growth.perRequest < 0)
        #expect(growth.text.hasPrefix("memory: one grows by ") && growth.text.contains(" a request more than other ("))
        let equal = Growth.growths([("one", first), ("other", copy)], copy: copy)
        #expect(equal[0].text.hasPrefix("memory: no growth of other beyond one's; one of "))
        let words = "descriptors: no growth of other beyond one's; it was the same in each round"
        #expect(equal[1].text == words)
    }

    /// A new process begins small and warms up: the rounds of the earlier ones say nothing.
    @Test func `rounds before the last process do not count`() {
        var generator = SeededGenerator(seed: 1)
        let first = Self.states(using: &generator)
        let copy = Self.states(using: &generator)
        var other = Self.states(using: &generator)
        for round in 0..<15 {
            other[round].memory += round * 10_000_000
            other[round].descriptors += round
        }
        for round in 15..<30 { other[round].process = 1 }
        let growths = Growth.growths([("one", first), ("other", other)], copy: copy)
        #expect(growths.count == 2 && growths.allSatisfy { !$0.decided })
        // What the last one keeps is found.
        for round in 15..<30 { other[round].memory += (round - 15) * 400_000 }
        #expect(Growth.growths([("one", first), ("other", other)], copy: copy)[0].decided)
        // And a last process of a few rounds is too young.
        for round in 24..<30 { other[round].process = 2 }
        #expect(Growth.growths([("one", first), ("other", other)], copy: copy).isEmpty)
    }

    @Test func `too few rounds have no growth`() {
        #expect(Self.growths(seed: 1, rounds: 7).count == 2)
        #expect(Self.growths(seed: 1, rounds: 6).isEmpty)
        #expect(Growth.growths([("one", []), ("other", [])], copy: []).isEmpty)
        #expect(Growth.growths([], copy: []).isEmpty)
    }
}
