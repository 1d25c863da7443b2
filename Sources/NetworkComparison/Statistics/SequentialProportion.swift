import Foundation

/// A test whether something happens more often than with a given probability, which may be asked after each
/// observation without being wrong more often: a test martingale, a mixture of likelihood ratios. By Ville's inequality
/// it reaches `1 / p` with a probability of at most `p`, however long it runs.
///
/// G. Shafer, A. Shen, N. Vereshchagin, V. Vovk: Test Martingales, Bayes Factors and p-Values (2011).
package struct SequentialProportion: Sendable {
    /// The logarithms of the factors of one alternative.
    private struct Alternative: Sendable {
        let happened: Double
        let not: Double
        var evidence = 0.0
    }

    private var alternatives: [Alternative]

    /// - Parameter probability: The probability, between 0 and 1, that is to be exceeded; 1 can't be.
    package init(probability: Double) {
        let count = 32
        alternatives = (0..<count).map { index in
            let other = probability + (1 - probability) * (Double(index) + 0.5) / Double(count)
            return Alternative(happened: log(other / probability), not: log((1 - other) / (1 - probability)))
        }
        if !(probability > 0 && probability < 1) { alternatives = [] }
    }

    package mutating func add(_ happened: Bool) {
        for index in alternatives.indices {
            alternatives[index].evidence += happened ? alternatives[index].happened : alternatives[index].not
        }
    }

    /// Returns whether the probability is exceeded, with that chance of being wrong at most.
    package func isExceeded(falseAlarms: Double) -> Bool {
        guard let largest = alternatives.map(\.evidence).max() else { return false }
        let sum = alternatives.reduce(0) { $0 + exp($1.evidence - largest) }
        return largest + log(sum / Double(alternatives.count)) >= -log(falseAlarms)
    }
}

/// A random number generator with a seed (SplitMix64), so that an experiment can be repeated.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator, whose numbers depend on the seed alone.
    public init(seed: UInt64) { state = seed }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
