import Foundation

/// The verdicts of a comparison as a table: a row for each URL and arm, a column for each metric, each cell with the
/// interval of the ratio drawn around 'equal'.
struct ForestPlot {
    private let result: ExperimentResult
    /// The logarithm of the largest factor that a cell shows, up or down.
    private let reach: Double

    init(_ result: ExperimentResult) {
        self.result = result
        let reaches = result.urls.flatMap(\.verdicts).compactMap { $0.interval.map { log($0.reach) } }
        reach = max(log(1.25), min(log(100), reaches.filter(\.isFinite).max() ?? 0) * 1.05)
    }

    /// The table; empty for one arm.
    var table: String {
        let first = result.arms[0].name
        let metrics = result.metrics.filter { !$0.isCount }
        let rows = result.urls.flatMap { url in
            result.arms.dropFirst().map { arm in
                let cells = metrics.map { metric in
                    cell(url.verdicts.first { $0.metric == metric && $0.arms.right == arm.name })
                }
                return "<tr><th scope=\"row\">\(ComparisonPage.escaped(url.url))</th>"
                    + "<td>\(ComparisonPage.escaped(arm.name))</td>\(cells.joined())</tr>"
            }
        }
        guard !rows.isEmpty else { return "" }
        let head = (["", "against \(first)"] + metrics.map(\.title))
            .map { "<th scope=\"col\">\(ComparisonPage.escaped($0))</th>" }.joined()
        return """
            <div class="wide"><table class="forest"><caption>Times the figure of \(ComparisonPage.escaped(first)), with \
            95 % intervals; the line is 'equal'. Bold: they differ</caption><thead><tr>\(head)</tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            """
    }

    private func cell(_ verdict: Verdict?) -> String {
        guard let verdict, let interval = verdict.interval else {
            return "<td title=\"\(ComparisonPage.escaped(verdict?.obstacle ?? "not measured"))\">-</td>"
        }
        // The other arm's figure, in units of the first one's.
        let (ratio, low, high) = (1 / interval.ratio, 1 / interval.high, 1 / interval.low)
        let text = "\(Verdict.factor(ratio))× <small>\(Verdict.factor(low)) to \(Verdict.factor(high))</small>"
        let drawing = """
            <svg viewBox="0 0 120 14" class="interval" aria-hidden="true"><path class="axis" d="M60 0V14"/>\
            <path class="bar" d="M\(x(low)) 7H\(x(high))"/><circle cx="\(x(ratio))" cy="7" r="3.5"/></svg>
            """
        return "<td class=\"\(verdict.isDecided ? "decided" : "open")\">\(drawing)\(text)</td>"
    }

    private func x(_ factor: Double) -> String {
        Chart.number(60 + 57 * max(-1, min(1, log(max(factor, 1e-9)) / reach)))
    }
}
