import Foundation
import NetworkComparison
import NetworkLayer

/// A report as one page of HTML that needs no network: light and dark, and readable on paper.
struct ReportPage {
    private let report: Report

    init(_ report: Report) { self.report = report }

    var text: String {
        let arms = report.arms.map(\.name)
        let target = report.urls.count == 1 ? report.urls[0].url : "\(report.urls.count) URLs"
        let title =
            (arms.count > 1 ? arms.joined(separator: " against ") : "\(arms[0]) and its baseline") + ": " + target
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(HTML.escaped(title))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <header><h1>\(HTML.escaped(title))</h1>\(legend)</header>
            <main>
            \(report.answer.map { "<p class=\"answer\">\(HTML.escaped($0))</p>" } ?? "")\(verdicts)
            \(report.notes.map { "<p>\(HTML.escaped($0))</p>" }.joined())
            \(report.urls.indices.map(section).joined(separator: "\n"))
            \(growth)
            \(changes)
            \(surroundings)
            </main>
            </body>
            </html>

            """
    }

    private var legend: String {
        let items = report.arms.enumerated().map { index, arm in
            "<span class=\"key c\(index)\"></span>\(HTML.escaped(arm.name)) <small>\(HTML.escaped(arm.origin))</small>"
        }
        return HTML.list(items.map { ("", $0) }, "legend")
    }

    /// All verdicts as a table with the intervals drawn; empty for one arm.
    private var verdicts: String {
        let metrics = report.design.metrics.filter { !$0.isCount }
        let reaches = report.verdicts.compactMap { $0.interval.map { log($0.reach) } }.filter(\.isFinite)
        let reach = max(log(1.25), min(log(100), reaches.max() ?? 0) * 1.05)
        let rows = report.urls.flatMap { url in
            report.arms.dropFirst().map { arm in
                let cells = metrics.map { metric in
                    let verdict = report.verdicts.first {
                        $0.url == url.url && $0.metric == metric && $0.arms[1] == arm.name
                    }
                    guard let verdict, let interval = verdict.interval else {
                        return "<td title=\"\(HTML.escaped(verdict?.text ?? "not measured"))\">-</td>"
                    }
                    // The other arm's figure, in units of the first one's.
                    let ends = (Verdict.factor(1 / interval.high), Verdict.factor(1 / interval.low))
                    return "<td class=\"\(verdict.decided ? "decided" : "open")\">\(Chart.interval(interval, reach))"
                        + "\(Verdict.factor(1 / interval.ratio))× <small>\(ends.0) to \(ends.1)</small></td>"
                }
                return "<tr>\(HTML.rowHead(url.url))<td>\(HTML.escaped(arm.name))</td>\(cells.joined())</tr>"
            }
        }
        if rows.isEmpty { return "" }
        let first = report.arms[0].name
        let caption = "Times the figure of \(first), with 95 % intervals; the line is 'equal'. Bold: they differ"
        return HTML.table(caption, ["", "against \(first)"] + metrics.map(\.title), rows, "forest")
    }

    // MARK: One URL

    private func section(_ index: Int) -> String {
        let url = report.urls[index]
        let arms = url.arms.prefix(report.arms.count)
        let series = arms.enumerated().map { number, arm in
            Chart.Series(
                name: arm.name, color: number, latencies: arm.blocks.flatMap(\.latencies).sorted(),
                blocks: arm.blocks.map { BlockFigures([$0]).values[.p50] ?? .nan })
        }
        func bars(_ unit: String, _ parts: (Report.Figures) -> [(name: String, value: Double)]?) -> Chart.Drawing {
            let bars = arms.enumerated().compactMap { number, arm in
                parts(arm.summary).map { Chart.Bar(name: arm.name, color: number, parts: $0) }
            }
            return Chart.bars(bars, unit: unit)
        }
        let charts = [
            ("How many requests are done after a time", Chart.cumulative(series)),
            ("How long requests take", Chart.histogram(series)),
            ("Median of each block, in their order", Chart.course(series)),
            (
                "Steps of a request, mean",
                bars("ms") { figures in
                    figures.phases.map { phases in Phase.allCases.map { ($0.title, phases[$0] ?? 0) } }
                }
            ),
            ("CPU time of a request", bars("µs") { $0.cpuMicrosecondsPerRequest.map { [("", $0)] } }),
            ("Largest resident memory", bars("MB") { [("", Double($0.peakResidentKB ?? 0) / 1024)] }),
        ].enumerated().map { HTML.figure($1.0, $1.1, id: "u\(index)c\($0)") }
        let shown = report.verdicts.filter { $0.url == url.url && $0.isShown }
        return HTML.section(
            "u\(index)", url.url,
            """
            \(HTML.list(shown.map(Self.item), "verdicts"))
            \(figures(url))
            \(HTML.list(report.shown(url).compactMap(Self.statistics), "statistics"))
            <div class="charts">\(charts.joined(separator: "\n"))</div>
            \(differences(url))
            \(wire(url))
            """)
    }

    private static func item(_ verdict: Verdict) -> (String, String) {
        (verdict.decided ? "decided" : "open", HTML.escaped(verdict.text))
    }

    private static func statistics(_ arm: Report.Target.Arm) -> (String, String)? {
        arm.summary.statistics.map { ("", HTML.escaped("\(arm.name): \($0.text)")) }
    }

    private func figures(_ url: Report.Target) -> String {
        let rows = report.shown(url).map { arm in
            let failures = arm.summary.errors.isEmpty ? "none" : Report.counts(arm.summary.errors)
            let cells =
                ["\(arm.summary.requests)", FigureCells.statuses(arm.summary)] + FigureCells.cells(arm)
                + [arm.summary.ended ?? failures]
            return "<tr>\(HTML.rowHead(arm.name))\(cells.map { "<td>\(HTML.escaped($0))</td>" }.joined())</tr>"
        }
        return HTML.table("Figures", ["arm", "requests", "status"] + FigureCells.titles + ["failures"], rows)
    }

    private func differences(_ url: Report.Target) -> String {
        // One arm is compared with its baseline alone.
        if url.responses.isEmpty { return "" }
        var (rows, findings, noise) = ([String](), [String](), [String]())
        for responses in url.responses {
            let own = report.differences.filter { $0.url == url.url && $0.arms[1] == responses.arm }
            rows += own.map(row)
            rows += responses.rest.map {
                "<tr><td colspan=\"6\">and \(HTML.escaped("\($0) over \(responses.arm)"))</td></tr>"
            }
            if own.isEmpty { findings.append("<p>\(HTML.escaped(responses.text))</p>") }
            noise += responses.aside
        }
        func list(_ texts: [String]) -> String { HTML.list(texts.map { ("", HTML.escaped($0)) }) }
        let titles = ["where", "", report.arms[0].name, "the other arm", "share", "between two copies"]
        return (rows.isEmpty ? "" : HTML.table("Differences between the responses", titles, rows))
            + findings.joined() + (url.gaps.isEmpty ? "" : list(url.gaps))
            + (noise.isEmpty ? "" : "<details><summary>Set aside</summary>\(list(noise))</details>")
    }

    private func row(_ difference: Report.Difference) -> String {
        func side(_ value: String, _ arm: String) -> String {
            "<td><code>\(HTML.escaped(value))</code><br><small>\(HTML.escaped(arm))</small></td>"
        }
        let known = difference.known.map {
            "known: \(HTML.escaped($0))<br><small>\(HTML.escaped(difference.why ?? ""))</small>"
        }
        let shares = [difference.share, difference.noiseShare].map { "<td>\(ContentDifference.percent($0))</td>" }
        return "<tr class=\"\(known == nil ? "new" : "known")\">"
            + HTML.rowHead(difference.where + (difference.status.map { " (\($0))" } ?? ""))
            + "<td>\(known ?? "new")</td>\(side(difference.example.left, difference.arms[0]))"
            + "\(side(difference.example.right, difference.arms[1]))\(shares.joined())</tr>"
    }

    /// Returns the requests as they were sent, side by side. Lines that the first arm's request lacks are marked.
    private func wire(_ url: Report.Target) -> String {
        let columns = url.arms.compactMap { arm -> String? in
            guard let wire = arm.wire else { return nil }
            let lines = zip(wire.lines, wire.differing(from: url.arms[0].wire)).map { line, differs in
                differs ? "<mark>\(HTML.escaped(line))</mark>" : HTML.escaped(line)
            }
            return "<figure><figcaption>\(HTML.escaped("\(arm.name), \(wire.connection)"))</figcaption>"
                + "<pre><code>\(lines.joined(separator: "\n"))</code></pre></figure>"
        }
        if columns.isEmpty { return "" }
        return "<h3>As sent, to a local server</h3><div class=\"charts\">\(columns.joined())</div>"
    }

    // MARK: All URLs

    private var growth: String {
        if report.growth.isEmpty { return "" }
        let series = report.processes.prefix(report.arms.count).enumerated().map { number, process in
            Chart.Series(
                name: process.name, color: number, latencies: [],
                blocks: process.rounds.map { Double($0.memory) / 1_000_000 })
        }
        func megabytes(_ value: Double) -> String { "\(Chart.number(value)) MB" }
        let words = series.map { "\($0.name): \(megabytes($0.blocks.last ?? 0)) at the end" }
        let drawing = Chart.course(series, step: "round", words: words.joined(separator: "; "), level: megabytes)
        let items = report.growth.map { ($0.decided ? "decided" : "open", HTML.escaped($0.text)) }
        return HTML.section(
            "kept", "What processes keep",
            HTML.list(items, "verdicts")
                + "<div class=\"charts\">\(HTML.figure("Memory after each round", drawing, id: "k"))</div>")
    }

    private var changes: String {
        guard !report.changes.isEmpty || !report.warnings.isEmpty else { return "" }
        return HTML.section(
            "since", "Since the baseline",
            HTML.list(report.warnings.map { ("", HTML.escaped($0)) })
                + HTML.list(report.changes.map(Self.item), "verdicts"))
    }

    private var surroundings: String {
        let facts = report.environment.sorted { $0.key < $1.key }.map {
            "<dt>\(HTML.escaped($0.key))</dt><dd>\(HTML.escaped($0.value))</dd>"
        }
        let design = report.design
        let turns =
            design.rate == nil ? "in random order" : "all at the same time, each start given to one by chance,"
        return HTML.section(
            "how", "How this was measured",
            """
            <p>Blocks of up to \(design.blockSize) requests, \(design.load), each arm in processes of its own,
            \(turns) with the seed \(design.seed). An interval holds for all verdicts of the page together, with 95 %. The
            noise floor is the difference that two copies of \(HTML.escaped(report.arms[0].name)) may have.</p>
            <pre><code>\(HTML.escaped(report.command))</code></pre>
            <dl>\(facts.joined())</dl>
            """)
    }

    private static let style = """
        :root{color-scheme:light dark;--paper:#fff;--ink:#1c1c1e;--pale:#6b6b70;--line:#d8d8dc;--new:#b3261e;
        --c0:#0b6e99;--c1:#d9730d;--c2:#4d8b31;--c3:#9b4d96;--c4:#b8860b;--c5:#5b5bd6;--c6:#c2185b;--c7:#607d8b}
        @media (prefers-color-scheme:dark){:root{--paper:#17171a;--ink:#ececf0;--pale:#a0a0a8;--line:#3a3a40;
        --new:#ff8a80;
        --c0:#5ab4dc;--c1:#f2a35e;--c2:#8fce6e;--c3:#d39bcf;--c4:#e3bf5a;--c5:#a3a3ff;--c6:#ff7aa8;--c7:#a9bdc7}}
        *{box-sizing:border-box}body{margin:0 auto;max-width:75rem;padding:1rem 1.5rem 4rem;background:var(--paper);
        color:var(--ink);font:1rem/1.5 system-ui,sans-serif}h1{font-size:1.6rem;margin:.5rem 0}
        h3{font-size:1rem;margin:1.5rem 0 0}mark{background:none;color:var(--new);font-weight:600}
        h2{font-size:1.1rem;margin:2.5rem 0 .5rem;overflow-wrap:anywhere}small,figcaption,caption,dt{color:var(--pale)}
        ul.legend,ul.verdicts{list-style:none;padding:0}.key{display:inline-block;width:.9rem;height:.9rem;
        border-radius:.2rem;
        margin-right:.4rem;vertical-align:-.1rem}.verdicts li{border-left:.25rem solid var(--line);padding:.1rem .8rem;
        margin:.35rem 0}.verdicts .decided{border-color:var(--c0);font-weight:600}.verdicts .open{color:var(--pale)}
        .answer{font-size:1.2rem;font-weight:600}.interval{width:7.5rem;display:block}.forest .open{color:var(--pale)}
        .interval .bar{stroke:var(--ink);stroke-width:2}.interval circle{fill:var(--ink)}.forest .decided{font-weight:600}
        .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;margin:1rem 0}
        caption{text-align:left}th,td{text-align:left;padding:.3rem .7rem .3rem 0;border-bottom:1px solid var(--line);
        vertical-align:top}td{white-space:nowrap}tbody th,td code{overflow-wrap:anywhere}
        tr.new td,tr.known td{white-space:normal}thead th{font-weight:400;color:var(--pale);white-space:nowrap}
        tbody th{min-width:8rem}td:nth-last-child(-n+2){white-space:nowrap}
        tr.new td:nth-child(2){color:var(--new);font-weight:600}code,pre{font:.85rem/1.45 ui-monospace,monospace}
        pre{overflow-x:auto;padding:.8rem;border:1px solid var(--line);border-radius:.4rem;white-space:pre-wrap}
        .charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(24rem,1fr));gap:1rem 2rem}
        figure{margin:.5rem 0;min-width:0}svg{width:100%;height:auto;display:block}svg text{fill:var(--pale);
        font-size:11px}
        .axis{stroke:var(--line);stroke-width:1}.plot{fill:none;stroke-width:1.8}dl{display:grid;
        grid-template-columns:max-content 1fr;gap:.1rem 1rem}dd{margin:0}
        .c0{background:var(--c0)}.c1{background:var(--c1)}.c2{background:var(--c2)}.c3{background:var(--c3)}
        .c4{background:var(--c4)}.c5{background:var(--c5)}.c6{background:var(--c6)}.c7{background:var(--c7)}
        @media print{body{max-width:none;padding:0;font-size:.8rem}figure,tr,li{break-inside:avoid}h2{break-after:avoid}
        .wide{overflow:visible}table,td code{font-size:.65rem}th,td{padding-right:.4rem}tbody th{min-width:4.5rem}
        .key,.verdicts li{print-color-adjust:exact;-webkit-print-color-adjust:exact}
        .charts{grid-template-columns:1fr 1fr}}
        @media (max-width:30rem){.charts{grid-template-columns:1fr}}
        """
}

enum HTML {
    /// Returns text for HTML, with control characters visible.
    static func escaped(_ text: String) -> String {
        TerminalText.visible(text).replacing(ascii: [
            UInt8(ascii: "&"): "&amp;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;",
            UInt8(ascii: "\""): "&quot;",
        ])
    }

    /// Returns a list of items, each with its class.
    static func list(_ items: [(name: String, html: String)], _ name: String = "") -> String {
        "<ul\(ofClass(name))>\(items.map { "<li\(ofClass($0.name))>\($0.html)</li>" }.joined())</ul>"
    }

    private static func ofClass(_ name: String) -> String { name.isEmpty ? "" : " class=\"\(name)\"" }

    static func rowHead(_ text: String) -> String { "<th scope=\"row\">\(escaped(text))</th>" }

    static func table(_ caption: String, _ titles: [String], _ rows: [String], _ name: String = "") -> String {
        """
        <div class="wide"><table\(ofClass(name))><caption>\(escaped(caption))</caption>
        <thead><tr>\(titles.map { "<th scope=\"col\">\(escaped($0))</th>" }.joined())</tr></thead>
        <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
        """
    }

    static func section(_ id: String, _ title: String, _ html: String) -> String {
        "<section aria-labelledby=\"\(id)\">\n<h2 id=\"\(id)\">\(escaped(title))</h2>\n\(html)\n</section>"
    }

    /// Returns a chart with its title; it is described in words for those who do not see it.
    static func figure(_ title: String, _ chart: Chart.Drawing, id: String) -> String {
        """
        <figure><figcaption id="\(id)">\(escaped(title))</figcaption>
        <svg viewBox="0 0 \(Chart.number(Chart.width)) \(Chart.number(chart.height))" role="img" \
        aria-labelledby="\(id) \(id)d"><desc id="\(id)d">\(escaped(chart.words))</desc>\(chart.svg)</svg></figure>
        """
    }
}
