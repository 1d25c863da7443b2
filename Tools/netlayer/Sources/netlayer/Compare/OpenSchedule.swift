import Foundation
import NetworkComparison

/// The intended starts of an open load, which all arms share: each start is given to one arm, by chance.
///
/// The arms send at the same time, so that none waits for the last response of another one: a server that stalls meets
/// the requests that were due meanwhile, and their times begin when they were due.
struct OpenSchedule: Codable, Sendable {
    /// The starts a second, of all arms together.
    var rate: Double
    /// The number of arms.
    var arms = 1
    /// Which of them this is, from 0 on.
    var arm = 0
    /// The seed by which the starts are given away.
    var seed: UInt64
    /// The time of the first start. All processes of a machine share the clock.
    var begin: ContinuousClock.Instant

    /// Returns the starts of the arm, each after the first start of all, in seconds.
    /// - Parameter requests: The number of starts of each arm.
    func starts(_ requests: Int) -> [Double] {
        var generator = SeededGenerator(seed: seed)
        let owners = (0..<arms).flatMap { Array(repeating: $0, count: requests) }.shuffled(using: &generator)
        return owners.indices.filter { owners[$0] == arm }.map { Double($0) / rate }
    }

    /// Returns the longest time between two starts of the arm, in seconds.
    func longestGap(_ requests: Int) -> Double {
        let starts = starts(requests)
        return zip(starts, starts.dropFirst()).map { $1 - $0 }.max() ?? 0
    }
}
