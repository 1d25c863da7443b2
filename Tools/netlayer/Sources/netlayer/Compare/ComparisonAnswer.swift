import NetworkComparison

/// What a comparison has found, in one sentence.
struct ComparisonAnswer {
    private let result: ExperimentResult

    init(_ result: ExperimentResult) { self.result = result }

    /// The sentence; `nil` for one arm, which has its baseline alone.
    var sentence: String? {
        guard result.arms.count > 1 else { return nil }
        return (result.arms.dropFirst().map { "\(medians(of: $0.name)); \(responses(of: $0.name))" })
            .joined(separator: ". ") + "."
    }

    /// Says which arm is faster at the median, over all URLs.
    private func medians(of other: String) -> String {
        let first = result.arms[0].name
        let verdicts = result.urls.flatMap(\.verdicts).filter { $0.metric == .p50 && $0.arms.right == other }
        let decided = verdicts.filter(\.isDecided)
        if verdicts.count == 1, let verdict = decided.first {
            return "at the median, \(verdict.finding)"
        }
        guard !decided.isEmpty else {
            return verdicts.contains { $0.interval != nil }
                ? "no difference found between \(first) and \(other) at the median"
                : "no verdict on the medians of \(first) and \(other)"
        }
        let ratios = decided.compactMap { $0.interval?.ratio }
        func range(_ factors: [Double]) -> String {
            let (low, high) = (Verdict.factor(factors.min() ?? 1), Verdict.factor(factors.max() ?? 1))
            return "\(low == high ? low : "\(low) to \(high)") times as fast"
        }
        func side(_ ahead: String, _ behind: String, _ factors: [Double]) -> String? {
            factors.isEmpty
                ? nil
                : "\(ahead) is \(range(factors)) as \(behind) at the median for \(factors.count) of \(verdicts.count) URLs"
        }
        return [
            side(first, other, ratios.filter { $0 < 1 }.map { 1 / $0 }), side(other, first, ratios.filter { $0 >= 1 }),
        ].compactMap(\.self).joined(separator: ", ")
    }

    private func responses(of other: String) -> String {
        let index = result.arms.firstIndex { $0.name == other }.map { $0 - 1 } ?? 0
        let contents = result.urls.map { $0.contents[index] }
        let new = contents.reduce(0) { $0 + $1.unlisted.new + $1.differences.count { $0.known == nil } }
        let known = contents.reduce(0) { $0 + $1.unlisted.known + $1.differences.count { $0.known != nil } }
        let silent = [result.arms[0], result.arms[index + 1]].filter { ArmSummary($0.figures).latencies.isEmpty }
        if !silent.isEmpty { return "no request of \(silent.map(\.name).joined(separator: " and ")) succeeded" }
        if new > 0 { return "the responses differ in \(new) new \(new == 1 ? "way" : "ways")" }
        if contents.contains(where: { $0.isEmpty || $0.isUnfounded }) { return "not all responses could be compared" }
        return known > 0 ? "the responses differ in known ways" : "no difference of the responses found"
    }
}
