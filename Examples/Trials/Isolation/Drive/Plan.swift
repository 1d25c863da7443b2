import TrialSupport

/// The selection of the sequences to run.
struct Plan: Sendable {
    let settings: Settings

    /// Every step that can come first, and every step whose result can be compared.
    static let firsts = Kind.all.flatMap { kind in Outcome.all.filter { fits($0, kind) }.map { Step(kind, $0) } }
    static let lasts = Kind.all.filter { !lateKinds.contains($0.name) }.flatMap { kind in
        Outcome.all.filter { $0.isSteady && fits($0, kind) }.map { Step(kind, $0) }
    }

    private static let surpluses = Outcome.all.map(\.name).filter { $0.hasPrefix("surplus") }
    /// The kinds whose own result depends on timing.
    private static let lateKinds: Set<String> = ["doh-silent", "stream-failing", "stream-short"]

    /// Returns whether an outcome is possible for a kind: one of TLS needs TLS, one of a proxy needs a proxy.
    private static func fits(_ outcome: Outcome, _ kind: Kind) -> Bool {
        let isProxied = kind.site == .proxied || kind.name.contains("tunnel")
        return switch outcome.name {
        case "tls-reset", "tls-garbage": kind.isSecure
        case "challenge-407", "tunnel-refused", "http10-407": isProxied
        // For the transport a redirect is the same as a 200, unless the pipeline follows it.
        case "redirect", "redirect-307", "cookies": kind.pipeline != nil
        default: true
        }
    }

    /// Two steps, by their indices, because there are eighteen million pairs.
    struct Pair {
        let first: UInt16
        let last: UInt16

        var steps: [Step] { [Plan.firsts[Int(first)], Plan.lasts[Int(last)]] }
    }

    /// Returns each first step with some of the last steps, in turns, so that every last step follows every outcome.
    func pairs() -> [Pair] {
        var random = SeededGenerator(seed: settings.seed)
        let order = Self.lasts.indices.shuffled(using: &random)
        let count = settings.lasts ?? order.count
        let fits = pairFilter()
        var turns: [String: Int] = [:]
        var pairs: [Pair] = []
        func add(_ first: Int, _ last: Int) {
            if fits(first, last) { pairs.append(Pair(first: UInt16(first), last: UInt16(last))) }
        }
        for (index, first) in Self.firsts.enumerated() {
            let turn = turns[first.outcome.name, default: Int(settings.seed % 1_000_000) * 7]
            for offset in 0..<count { add(index, order[(turn + offset) % order.count]) }
            turns[first.outcome.name] = turn + count
        }
        // The same request twice, the second on the connection that was kept, with whatever data waits there.
        let places = Dictionary(uniqueKeysWithValues: Self.firsts.enumerated().map { ($1.description, $0) })
        for (index, last) in Self.lasts.enumerated() where ["ok", "close-if-kept"].contains(last.outcome.name) {
            let outcomes = last.outcome.name == "ok" ? ["ok"] + Self.surpluses : ["ok"]
            for first in outcomes.compactMap({ places["\(last.kind.name)@\($0)"] }) { add(first, index) }
        }
        return pairs.shuffled(using: &random)
    }

    /// Returns a filter of pairs. The text of a pair, its two steps with a space between them, must contain the filter.
    private func pairFilter() -> (Int, Int) -> Bool {
        guard let filter = settings.filter else { return { _, _ in true } }
        let sides = filter.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if sides.count > 1 {
            let firsts = Self.firsts.map { $0.description.hasSuffix(sides[0]) }
            let lasts = Self.lasts.map { $0.description.hasPrefix(sides[1]) }
            return { firsts[$0] && lasts[$1] }
        }
        let firsts = Self.firsts.map { $0.description.contains(filter) }
        let lasts = Self.lasts.map { $0.description.contains(filter) }
        return { firsts[$0] || lasts[$1] }
    }

    /// Returns a longer sequence by its number.
    ///
    /// Every second sequence runs all at once, and is longer.
    func sequence(_ number: Int) -> (steps: [Step], isAtOnce: Bool) {
        var random = SeededGenerator(seed: settings.seed &* 1_000_003 &+ UInt64(number))
        let isAtOnce = number % 2 == 1
        let count = Int.random(in: isAtOnce ? 10...30 : 3...8, using: &random)
        let steps = (1..<count).compactMap { _ in Self.firsts.randomElement(using: &random) }
        return (steps + [Self.lasts.randomElement(using: &random)].compactMap(\.self), isAtOnce)
    }
}
