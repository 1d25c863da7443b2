/// How long a piece of work takes at its quickest: what other threads take away is no part of it.
///
/// For ratios of two kinds of work that are alike but for what a server filled them with.
package func cost(rounds: Int = 5, of work: () throws -> Void) rethrows -> Duration {
    try (0..<rounds).map { _ in try ContinuousClock().measure(work) }.min() ?? .zero
}
