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
        var processes = 10

        /// Returns the comparison of the arms.
        /// - Parameter version: The version that a response has: by its arm, and by the number of responses before it.
        func run(
            seed: UInt64, version: (_ arm: Int, _ number: Int, inout SeededGenerator) -> Int
        ) -> ContentComparison {
            run(seed: seed) { arm, number, _, generator in version(arm, number, &generator) }
        }

        /// Does the same for versions that belong to a process, or to its connection.
        func run(
            seed: UInt64, version: (_ arm: Int, _ number: Int, _ process: Int, inout SeededGenerator) -> Int
        ) -> ContentComparison {
            var generator = SeededGenerator(seed: seed)
            var known = ContentTally()
            for version in 0...8 { known.learn(Self.response(version), as: version) }
            var tallies = [known, known, known]
            var number = 0
            for round in 0..<rounds {
                let process = round * processes / rounds
                for arm in tallies.indices.shuffled(using: &generator) {
                    var block: [Int: Int] = [:]
                    for _ in 0..<blockSize {
                        block[version(arm, number, process, &generator), default: 0] += 1
                        number += 1
                    }
                    let place = ExperimentRound(process: process, number: round)
                    for (version, times) in block { tallies[arm].count(version, times: times, in: place) }
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

    @Test(arguments: [5, 6, 8]) func `few rounds tell no equal arms apart either`(rounds: Int) {
        for period in [100, 250, 700] {
            let found = Self.seeds.filter { seed in
                !Schedule(rounds: rounds).run(seed: seed) { _, number, _ in number / period % 2 }.differences.isEmpty
            }
            #expect(found.count <= 2, "\(period): \(found)")
        }
    }

    /// Regression: a value of one copy and another value of the other copy counted as values that both had.
    @Test(arguments: [2, 3, 8], [1, 4])
    func `a server for each connection tells no equal arms apart`(servers: Int, connections: Int) {
        let found = Self.seeds.filter { seed in
            var chosen: [Int: [Int]] = [:]
            return !Schedule(rounds: 45, blockSize: 40).run(seed: seed) { arm, number, process, generator in
                let key = arm + 3 * process
                let own = chosen[key] ?? (0..<connections).map { _ in Int.random(in: 1...servers, using: &generator) }
                chosen[key] = own
                return own[number % connections]
            }.differences.isEmpty
        }
        #expect(found.count <= 1, "\(found)")
    }

    /// Regression: with one process for each arm, its connection's server was a difference in every comparison.
    @Test func `a value that each arm has for itself is noise`() {
        let comparison = Schedule(processes: 1).run(seed: 1) { arm, _, _ in arm + 1 }
        #expect(comparison.differences.isEmpty)
    }

    @Test func `a wrong value in each process is found`() {
        let missed = Self.seeds.filter { seed in
            Schedule().run(seed: seed) { arm, number, _ in
                arm == 2 && number / 600 % 3 == 0 ? 3 : number < 9_000 ? 1 : 2
            }.differences.isEmpty
        }
        #expect(missed.isEmpty, "\(missed)")
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

    @Test func `shares that differ are found`() {
        for rounds in [1, 2, 3, 5, 10, 30] {
            let missed = Self.seeds.filter { seed in
                let schedule = Schedule(rounds: rounds, blockSize: 600 / rounds, processes: min(rounds, 10))
                return schedule.run(seed: seed) { arm, _, generator in
                    Int.random(in: 0..<100, using: &generator) < (arm == 2 ? 75 : 50) ? 1 : 2
                }.differences.isEmpty
            }
            #expect(missed.count <= (rounds == 5 ? 10 : 2), "\(rounds) rounds: \(missed)")
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
