import Foundation
import Testing

@testable import NetworkComparison

/// Comparisons of a server whose responses change with time, so that neighbouring responses are alike.
@Suite("Contents of a server that changes")
struct ChangingServerTests {
    /// A schedule of three equal arms (the first one, its copy and another one) in random order.
    private struct Schedule {
        var rounds = 30
        var blockSize = 200

        /// Returns the comparison of the arms.
        /// - Parameter version: The version that a response has: by its arm, and by the number of responses before it.
        func run(
            seed: UInt64, version: (_ arm: Int, _ number: Int, inout SeededGenerator) -> Int
        ) -> ContentComparison {
            var generator = SeededGenerator(seed: seed)
            var known = ContentTally()
            for version in 0...3 { known.learn(Self.response(version), as: version) }
            var tallies = [known, known, known]
            var number = 0
            for round in 0..<rounds {
                for arm in tallies.indices.shuffled(using: &generator) {
                    var block: [Int: Int] = [:]
                    for _ in 0..<blockSize {
                        block[version(arm, number, &generator), default: 0] += 1
                        number += 1
                    }
                    for (version, times) in block { tallies[arm].count(version, times: times, in: round) }
                }
            }
            return ContentComparison(
                tallies[0], copy: tallies[1], tallies[2], kinds: ("curl", "curl"), sentNames: [])
        }

        private static func response(_ version: Int) -> RecordedResponse {
            var response = RecordedResponse()
            response.status = 200
            response.fields = [.init("Content-Type", "application/json")]
            response.setBody(Data(#"{"v":\#(version)}"#.utf8))
            return response
        }
    }

    private static let seeds = UInt64(1)...40

    /// Regression: responses counted as independent of each other, so that 13 of 20 comparisons told equal arms apart
    /// after one change early in the run.
    @Test(arguments: [290, 300, 450, 1_000, 9_000, 17_000])
    func `a change during the run tells no equal arms apart`(after responses: Int) {
        let found = Self.seeds.filter { seed in
            !Schedule().run(seed: seed) { _, number, _ in number < responses ? 1 : 2 }.differences.isEmpty
        }
        #expect(found.count <= 1, "\(found)")
    }

    @Test(arguments: [70, 300, 500, 1_100, 4_000])
    func `a response that goes to and fro tells no equal arms apart`(every responses: Int) {
        let found = Self.seeds.filter { seed in
            !Schedule().run(seed: seed) { _, number, _ in number / responses % 2 }.differences.isEmpty
        }
        #expect(found.count <= 1, "\(found)")
    }

    @Test func `a difference is found through changes`() {
        let missed = Self.seeds.filter { seed in
            Schedule().run(seed: seed) { arm, number, generator in
                let version = number < 7_000 ? 1 : 2
                return arm == 2 && Int.random(in: 0..<4, using: &generator) == 0 ? 3 : version
            }.differences.isEmpty
        }
        #expect(missed.isEmpty, "\(missed)")
    }

    @Test func `shares that differ are found, however few the rounds`() {
        for rounds in [1, 2, 3, 10, 30] {
            let missed = Self.seeds.filter { seed in
                Schedule(rounds: rounds, blockSize: 600 / rounds).run(seed: seed) { arm, _, generator in
                    Int.random(in: 0..<100, using: &generator) < (arm == 2 ? 75 : 50) ? 1 : 2
                }.differences.isEmpty
            }
            #expect(missed.count <= (rounds < 4 ? 20 : 1), "\(rounds) rounds: \(missed)")
        }
    }

    @Test func `a value that is missing over one arm is found`() {
        let missed = Self.seeds.filter { seed in
            Schedule().run(seed: seed) { arm, _, generator in
                arm < 2 && Int.random(in: 0..<25, using: &generator) == 0 ? 1 : 2
            }.differences.isEmpty
        }
        #expect(missed.count <= 1, "\(missed)")
    }
}
