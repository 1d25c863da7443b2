import TrialSupport

/// Which sequences are run.
struct Plan: Sendable {
    let settings: Settings

    /// Every step that can come first, and every one whose result says something.
    static let firsts = Kind.all.flatMap { kind in Outcome.all.filter { fits($0, kind) }.map { Step(kind, $0) } }
    static let lasts = Kind.all.filter { !lateKinds.contains($0.name) }.flatMap { kind in
        Outcome.all.filter { $0.isSteady && fits($0, kind) }.map { Step(kind, $0) }
    }

    /// Whose own result depends on time.
    private static let lateKinds: Set<String> = ["doh-silent", "stream-failing", "stream-short"]

    /// An outcome of TLS needs TLS, one of a proxy a proxy.
    private static func fits(_ outcome: Outcome, _ kind: Kind) -> Bool {
        let isProxied = kind.site == .proxied || kind.name.contains("tunnel")
        return switch outcome.name {
        case "tls-reset", "tls-garbage": kind.isSecure
        case "challenge-407", "tunnel-refused", "http10-407": isProxied
        // The stall would be in the answer to the first question, before the caller has anything to give up.
        case "surplus-late", "surplus-answer-late", "body-cancel", "body-dropped": !kind.asksFirst
        // What a redirect does to the transport is what a 200 does, unless the pipeline follows it.
        case "redirect", "redirect-307", "cookies": kind.pipeline != nil
        default: true
        }
    }

    /// Each first step with some of the last ones, in turns, so that every last one follows every outcome.
    var pairs: [[Step]] {
        var random = SeededGenerator(seed: settings.seed)
        let lasts = Self.lasts.shuffled(using: &random)
        let count = settings.lasts ?? lasts.count
        var turns: [String: Int] = [:]
        var pairs: [[Step]] = []
        for first in Self.firsts {
            let turn = turns[first.outcome.name, default: Int(settings.seed) * 7]
            for offset in 0..<count { pairs.append([first, lasts[(turn + offset) % lasts.count]]) }
            turns[first.outcome.name] = turn + count
        }
        // A request after its like, on the connection that was kept for it.
        for last in Self.lasts where ["ok", "close-if-kept"].contains(last.outcome.name) {
            pairs.append([try? Step("\(last.kind.name)@ok"), last].compactMap(\.self))
        }
        if let filter = settings.filter { pairs = pairs.filter { $0.text.contains(filter) } }
        return pairs.shuffled(using: &random)
    }

    /// A longer sequence by its number.
    ///
    /// Every second one runs all at once, and is longer.
    func sequence(_ number: Int) -> (steps: [Step], isAtOnce: Bool) {
        var random = SeededGenerator(seed: settings.seed &* 1_000_003 &+ UInt64(number))
        let isAtOnce = number % 2 == 1
        let count = Int.random(in: isAtOnce ? 10...30 : 3...8, using: &random)
        let steps = (1..<count).compactMap { _ in Self.firsts.randomElement(using: &random) }
        return (steps + [Self.lasts.randomElement(using: &random)].compactMap(\.self), isAtOnce)
    }
}
