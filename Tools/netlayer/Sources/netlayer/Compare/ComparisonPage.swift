import Foundation
import NetworkComparison
import NetworkLayer

/// The result of a comparison as one page of HTML that needs no network: light and dark, and readable on paper.
struct ComparisonPage {
    private let result: ExperimentResult

    init(_ result: ExperimentResult) { self.result = result }

    var text: String {
        let arms = result.arms.map(\.name)
        let target = result.urls.count == 1 ? result.urls[0].url : "\(result.urls.count) URLs"
        let title =
            (arms.count > 1 ? arms.joined(separator: " against ") : "\(arms[0]) and its baseline") + ": " + target
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Self.escaped(title))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <header><h1>\(Self.escaped(title))</h1>\(legend)</header>
            <main>
            \(answer)
            \(result.urls.indices.map(section).joined(separator: "\n"))
            \(growths)
            \(changes)
            \(surroundings)
            </main>
            </body>
            </html>

            """
    }

    private var legend: String {
        let items = result.arms.indices.map { index in
            "<li><span class=\"key c\(index)\"></span>\(Self.escaped(result.arms[index].name)) "
                + "<small>\(Self.escaped(result.arms[index].origin))</small></li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }

    private var answer: String {
        let sentence = ComparisonAnswer(result).sentence.map { "<p class=\"answer\">\(Self.escaped($0))</p>" } ?? ""
        let remarks = result.remarks.map { "<p>\(Self.escaped($0))</p>" }.joined()
        return sentence + ForestPlot(result).table + remarks
    }

    // MARK: One URL

    private func section(_ index: Int) -> String {
        let url = result.urls[index]
        let series = result.arms.enumerated().map { number, arm in
            Chart.Series(
                name: arm.name, color: number, latencies: arm.figures[index].blocks.flatMap(\.latencies).sorted(),
                blocks: arm.figures[index].blocks.map { BlockFigures([$0]).values[.p50] ?? .nan })
        }
        return """
            <section aria-labelledby="u\(index)">
            <h2 id="u\(index)">\(Self.escaped(url.url))</h2>
            <ul class="verdicts">\(url.verdicts.filter(\.isShown).map(verdict).joined())</ul>
            \(figures(index))
            <div class="charts">
            \(Chart.figure("How many requests are done after a time", Chart.cumulative(series), id: "e\(index)"))
            \(Chart.figure("How long requests take", Chart.histogram(series), id: "h\(index)"))
            \(Chart.figure("Median of each block, in their order", Chart.course(series), id: "t\(index)"))
            \(Chart.figure("Steps of a request, mean", Chart.bars(phases(index), unit: "ms"), id: "p\(index)"))
            \(Chart.figure("CPU time of a request", Chart.bars(cpu(index), unit: "µs"), id: "c\(index)"))
            \(Chart.figure("Largest resident memory", Chart.bars(memory(index), unit: "MB"), id: "m\(index)"))
            </div>
            \(differences(index))
            \(wire(index))
            </section>
            """
    }

    private func verdict(_ verdict: Verdict) -> String {
        "<li class=\"\(verdict.isDecided ? "decided" : "open")\">\(Self.escaped(verdict.text))</li>"
    }

    private func figures(_ index: Int) -> String {
        let rows = result.shownArms.enumerated().map { number, arm in
            let summary = ArmSummary([arm.figures[index]])
            let widths = number < result.arms.count ? result.urls[index].widths[number] : [:]
            func cell(_ metric: Metric, _ text: (Double) -> String) -> String {
                "<td>\(summary.values[metric].map { text($0) + ComparisonText.width(widths[metric]) } ?? "-")</td>"
            }
            let failed = summary.errors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            let end = summary.ended ?? (failed.isEmpty ? "none" : failed.joined(separator: ", "))
            return "<tr><th scope=\"row\">\(Self.escaped(arm.name))</th><td>\(summary.requests)</td>"
                + "<td>\(Self.escaped(ComparisonText.statuses(summary.statuses)))</td>"
                + cell(.p50, ComparisonText.time) + cell(.p95, ComparisonText.time) + cell(.p99, ComparisonText.time)
                + cell(.rate) { "\(Int($0.rounded()))" } + cell(.cpu) { "\(Int($0.rounded())) µs" }
                + "<td>\(summary.peakResidentKB / 1024) MB</td><td>\(summary.threads)</td>"
                + "<td>\(summary.connectionsText)</td>"
                + "<td>\(arm.figures[index].coldMilliseconds.map(ComparisonText.time) ?? "-")</td>"
                + "<td>\(Self.escaped(end))</td></tr>"
        }
        let titles = [
            "arm", "requests", "status", "p50", "p95", "p99", "req/s", "CPU/req", "memory", "threads", "connections",
            "cold", "failures",
        ]
        let head = titles.map { "<th scope=\"col\">\($0)</th>" }.joined()
        return """
            <div class="wide"><table><caption>Figures</caption><thead><tr>\(head)</tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            """
    }

    private func phases(_ index: Int) -> [Chart.Bar] {
        result.arms.enumerated().compactMap { number, arm in
            guard let phases = ArmSummary([arm.figures[index]]).phases else { return nil }
            let parts = [
                ("queue", phases.queue), ("look-up", phases.lookUp), ("connect", phases.connect), ("TLS", phases.tls),
                ("first byte", phases.firstByte), ("body", phases.body),
            ]
            return Chart.Bar(name: arm.name, color: number, parts: parts)
        }
    }

    private func cpu(_ index: Int) -> [Chart.Bar] {
        bars { ArmSummary([$0.figures[index]]).values[.cpu] }
    }

    private func memory(_ index: Int) -> [Chart.Bar] {
        bars { Double(ArmSummary([$0.figures[index]]).peakResidentKB) / 1024 }
    }

    private func bars(_ value: (Arm) -> Double?) -> [Chart.Bar] {
        result.arms.enumerated().compactMap { number, arm in
            value(arm).map { Chart.Bar(name: arm.name, color: number, parts: [("", $0)]) }
        }
    }

    /// Returns what to say where there are no differences between at least two arms.
    private static func alike(_ contents: [ContentComparison], hasGaps: Bool) -> String {
        if contents.contains(where: \.isEmpty) { return "An arm has no responses to compare." }
        if contents.contains(where: \.isUnfounded) {
            return "Two copies of the first arm differ, so nothing can be said of the responses."
        }
        if contents.contains(where: \.hasUncomparedBodies) {
            return "The bodies change with each response and were not compared. The rest does not differ."
        }
        return hasGaps ? "What was compared does not differ." : "The responses do not differ."
    }

    private func differences(_ index: Int) -> String {
        let url = result.urls[index]
        let first = result.arms[0].name
        var rows: [String] = []
        var noise: [String] = []
        for (arm, contents) in zip(result.arms.dropFirst(), url.contents) {
            rows += contents.differences.map { row($0, (first, arm.name)) }
            rows += ComparisonText.rest(contents).map { rest in
                "<tr><td colspan=\"6\">and \(Self.escaped("\(rest) over \(arm.name)"))</td></tr>"
            }
            noise += ComparisonText.grouped(contents.noise)
        }
        let aside = noise.map { "<li>\(Self.escaped($0))</li>" }.joined()
        let titles = ["where", "", first, "the other arm", "share", "between two copies"].map(Self.escaped)
        let head = titles.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let gaps = ComparisonText.gaps(result, index).map { "<li>\(Self.escaped($0))</li>" }.joined()
        // One arm is compared with its baseline alone.
        if url.contents.isEmpty { return "" }
        let table =
            rows.isEmpty
            ? "<p>\(Self.alike(url.contents, hasGaps: !gaps.isEmpty))</p>"
            : "<div class=\"wide\"><table><caption>Differences between the responses</caption>"
                + "<thead><tr>\(head)</tr></thead><tbody>\(rows.joined(separator: "\n"))</tbody></table></div>"
        return table + (gaps.isEmpty ? "" : "<ul>\(gaps)</ul>")
            + (aside.isEmpty ? "" : "<details><summary>Set aside</summary><ul>\(aside)</ul></details>")
    }

    private func row(_ difference: ContentDifference, _ arms: (String, String)) -> String {
        func side(_ value: String, _ arm: String) -> String {
            "<td><code>\(Self.escaped(value))</code><br><small>\(Self.escaped(arm))</small></td>"
        }
        let status = difference.status.map { " (\($0))" } ?? ""
        var row = "<tr class=\"\(difference.known == nil ? "new" : "known")\">"
        row += "<th scope=\"row\">\(Self.escaped(difference.place + status))</th>"
        if let known = difference.known {
            row += "<td>known: \(Self.escaped(known.name))<br><small>\(Self.escaped(known.reason))</small></td>"
        } else {
            row += "<td>new</td>"
        }
        row += side(difference.example.left, arms.0) + side(difference.example.right, arms.1)
        row += "<td>\(ContentDifference.percent(difference.share))</td>"
        return row + "<td>\(ContentDifference.percent(difference.noiseShare))</td></tr>"
    }

    /// Returns the requests as they were sent, side by side. Lines that the first arm's request lacks are marked.
    private func wire(_ index: Int) -> String {
        let first = result.arms[0].figures[index].wire
        let columns = result.arms.compactMap { arm -> String? in
            guard let wire = arm.figures[index].wire else { return nil }
            let lines = zip(wire.lines, wire.differing(from: first)).map { line, differs in
                differs ? "<mark>\(Self.escaped(line))</mark>" : Self.escaped(line)
            }
            return "<figure><figcaption>\(Self.escaped("\(arm.name), \(wire.connection)"))</figcaption>"
                + "<pre><code>\(lines.joined(separator: "\n"))</code></pre></figure>"
        }
        if columns.isEmpty { return "" }
        return "<h3>As sent, to a local server</h3><div class=\"charts\">\(columns.joined())</div>"
    }

    private var growths: String {
        if result.growths.isEmpty { return "" }
        let items = result.growths.map {
            "<li class=\"\($0.isDecided ? "decided" : "open")\">\(Self.escaped($0.text))</li>"
        }
        let series = result.arms.enumerated().map { number, arm in
            Chart.Series(
                name: arm.name, color: number, latencies: [],
                blocks: arm.states.map { Double($0.memory) / 1_000_000 })
        }
        func megabytes(_ value: Double) -> String { "\(Chart.number(value)) MB" }
        let words = series.map { "\($0.name): \(megabytes($0.blocks.last ?? 0)) at the end" }
        let drawing = Chart.course(series, step: "round", words: words.joined(separator: "; "), level: megabytes)
        return """
            <section aria-labelledby="kept"><h2 id="kept">What processes keep</h2>
            <ul class="verdicts">\(items.joined())</ul>
            <div class="charts">\(Chart.figure("Memory after each round", drawing, id: "k"))</div></section>
            """
    }

    private var changes: String {
        guard !result.changes.isEmpty || !result.warnings.isEmpty else { return "" }
        let warnings = result.warnings.map { "<li>\(Self.escaped($0))</li>" }.joined()
        return """
            <section aria-labelledby="since"><h2 id="since">Since the baseline</h2>
            <ul>\(warnings)</ul>
            <ul class="verdicts">\(result.changes.map(verdict).joined())</ul></section>
            """
    }

    private var surroundings: String {
        let facts = result.environment.map { "<dt>\(Self.escaped($0.name))</dt><dd>\(Self.escaped($0.value))</dd>" }
        let design = result.design
        let load =
            design.rate.map { "\(Chart.number($0)) requests a second" } ?? "\(design.concurrency) requests at once"
        return """
            <section aria-labelledby="how"><h2 id="how">How this was measured</h2>
            <p>Blocks of up to \(design.blockSize) requests, \(Self.escaped(load)), each arm in processes of its own,
            \(design.rate == nil ? "in random order" : "all at the same time, each start given to one by chance,") with
            the seed \(design.seed). An interval holds for all verdicts of the page together,
            with 95 %. The
            noise floor is the difference that two copies of \(Self.escaped(result.arms[0].name)) may have.</p>
            <pre><code>\(Self.escaped(result.command))</code></pre>
            <dl>\(facts.joined())</dl></section>
            """
    }

    /// Returns text for HTML, with control characters visible.
    static func escaped(_ text: String) -> String {
        TerminalText.visible(text).replacing(ascii: entities)
    }

    private static let entities = [
        UInt8(ascii: "&"): "&amp;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;", UInt8(ascii: "\""): "&quot;",
    ]

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
