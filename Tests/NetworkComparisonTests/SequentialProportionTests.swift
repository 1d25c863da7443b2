import TestSupport
import Testing
import struct NetworkComparison.SeededGenerator

@testable import NetworkComparison

@Suite(.patience(minutes: 1))
struct SequentialProportionTests {
    @Test(arguments: [0.05, 0.2, 0.5])
    func `a probability that is not exceeded alarms no more often than stated, at any look`(probability: Double) {
        var generator = SeededGenerator(seed: 11)
        var alarms = 0
        for _ in 0..<1_000 {
            var test = SequentialProportion(probability: probability)
            for _ in 0..<400 {
                test.add(Double.random(in: 0..<1, using: &generator) < probability)
                if test.isExceeded(falseAlarms: 0.05) {
                    alarms += 1
                    break
                }
            }
        }
        // At most 50 are expected; four standard deviations more.
        #expect(alarms <= 78, "\(alarms)")
    }

    @Test func `a probability that is exceeded is found, the sooner the more`() {
        var generator = SeededGenerator(seed: 12)
        var needed: [Int] = []
        for actual in [1.0, 0.6, 0.35] {
            var test = SequentialProportion(probability: 0.2)
            var count = 0
            while !test.isExceeded(falseAlarms: 0.0005), count < 10_000 {
                test.add(Double.random(in: 0..<1, using: &generator) < actual)
                count += 1
            }
            needed.append(count)
        }
        #expect(needed[0] <= 8 && needed[1] < 60 && needed[2] < 600, "\(needed)")
    }

    @Test func `certain and impossible things can't be exceeded`() {
        for probability in [0.0, 1] {
            var test = SequentialProportion(probability: probability)
            for _ in 0..<100 { test.add(true) }
            #expect(!test.isExceeded(falseAlarms: 0.05))
        }
    }
}
