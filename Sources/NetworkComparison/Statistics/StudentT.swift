import Foundation

/// Student's t distribution.
public enum StudentT {
    /// Returns the value that a variable of the distribution does not exceed with a given probability.
    /// - Parameters:
    ///   - probability: Above 0 and below 1.
    ///   - degrees: The degrees of freedom, at least 1.
    public static func quantile(_ probability: Double, degrees: Int) -> Double {
        guard probability != 0.5 else { return 0 }
        // The distribution is symmetric, so only the upper half is searched.
        let upper = max(probability, 1 - probability)
        var (low, high) = (0.0, 1.0)
        while cumulative(high, degrees: degrees) < upper, high < 1e300 { (low, high) = (high, high * 2) }
        for _ in 0..<200 {
            let middle = (low + high) / 2
            if middle == low || middle == high { break }
            if cumulative(middle, degrees: degrees) < upper { low = middle } else { high = middle }
        }
        return probability > 0.5 ? high : -high
    }

    /// Returns the probability of a value of at most `value`, which is not negative.
    static func cumulative(_ value: Double, degrees: Int) -> Double {
        let degrees = Double(degrees)
        return 1 - incompleteBeta(degrees / (degrees + value * value), degrees / 2, 0.5) / 2
    }

    /// Returns the regularized incomplete beta function, by its continued fraction (DLMF 8.17.22).
    private static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        // The fraction converges fast below this value only.
        if x > (a + 1) / (a + b + 2) { return 1 - incompleteBeta(1 - x, b, a) }
        let front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
        return front / fraction(x, a, b)
    }

    /// Returns `1 + d1/(1 + d2/(1 + …))`, by Lentz's method.
    private static func fraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
        let tiny = 1e-300
        var (value, numerator, denominator) = (1.0, 1.0, 0.0)
        for step in 1...500 {
            let m = Double(step / 2)
            let term =
                step.isMultiple(of: 2)
                ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            denominator = 1 / nonzero(1 + term * denominator, tiny)
            numerator = nonzero(1 + term / numerator, tiny)
            value *= numerator * denominator
            if abs(numerator * denominator - 1) < 1e-15 { break }
        }
        return value
    }

    private static func nonzero(_ value: Double, _ tiny: Double) -> Double { abs(value) < tiny ? tiny : value }
}
