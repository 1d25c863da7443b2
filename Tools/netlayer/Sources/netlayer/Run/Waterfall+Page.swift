import NetworkLayer

extension Waterfall {
    /// Returns the waterfall as one page of HTML that needs no network: light and dark, and readable on paper.
    func page(title: String) -> String {
        let kinds = Step.Kind.allCases.map { kind in
            "<li><span class=\"key \(kind)\"></span>\(ComparisonPage.escaped(kind.rawValue))</li>"
        }
        let head = ["start", "time", "status", "bytes", "", "request"].map { "<th scope=\"col\">\($0)</th>" }.joined()
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(ComparisonPage.escaped(title))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <h1>\(ComparisonPage.escaped(title))</h1>
            <p>\(rows.count) exchanges in \(Self.time(duration))</p>
            <ul class="legend">\(kinds.joined())</ul>
            <table><thead><tr>\(head)</tr></thead>
            <tbody>\(rows.map(row).joined(separator: "\n"))</tbody></table>
            </body>
            </html>

            """
    }

    private func row(_ row: Row) -> String {
        let cells = [Self.time(row.start), Self.time(row.total), row.outcome, row.bytes].map {
            "<td>\(ComparisonPage.escaped($0))</td>"
        }
        let steps = row.steps.map { step in
            let (left, width) = (step.start / duration * 100, (step.end - step.start) / duration * 100)
            return "<i class=\"\(step.kind)\" style=\"left:\(Self.percent(left));width:\(Self.percent(width))\" "
                + "title=\"\(ComparisonPage.escaped(step.kind.rawValue)), \(Self.time(step.end - step.start))\"></i>"
        }
        // A screen reader gets the steps in words.
        let words = row.steps.map { "\($0.kind.rawValue) \(Self.time($0.end - $0.start))" }.joined(separator: ", ")
        return "<tr class=\"\(row.isFailure ? "failed" : "")\">\(cells.joined())<td class=\"bar\">"
            + "<div role=\"img\" aria-label=\"\(ComparisonPage.escaped(words))\">\(steps.joined())</div></td>"
            + "<th scope=\"row\">\(ComparisonPage.escaped(row.name))</th></tr>"
    }

    private static func percent(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)%" }

    private static let style = """
        :root{color-scheme:light dark;--paper:#fff;--ink:#1c1c1e;--pale:#6b6b70;--line:#d8d8dc;--bad:#b3261e;
        --queue:#b9b9c0;--lookUp:#0b6e99;--connect:#d9730d;--tls:#9b4d96;--wait:#4d8b31;--receive:#5b5bd6;
        --unknown:#8a8a90}
        @media (prefers-color-scheme:dark){:root{--paper:#17171a;--ink:#ececf0;--pale:#a0a0a8;--line:#3a3a40;
        --bad:#ff8a80;--queue:#62626a;--lookUp:#5ab4dc;--connect:#f2a35e;--tls:#d39bcf;--wait:#8fce6e;--receive:#a3a3ff;
        --unknown:#92929a}}
        *{box-sizing:border-box}body{margin:0 auto;max-width:90rem;padding:1rem 1.5rem 4rem;background:var(--paper);
        color:var(--ink);font:1rem/1.5 system-ui,sans-serif}h1{font-size:1.4rem;overflow-wrap:anywhere}
        .legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;color:var(--pale)}
        .key{display:inline-block;width:.9rem;height:.9rem;border-radius:.2rem;margin-right:.4rem;vertical-align:-.1rem}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{text-align:left;
        padding:.25rem .7rem .25rem 0;border-bottom:1px solid var(--line);white-space:nowrap;font-weight:400}
        thead th{color:var(--pale)}tbody th{overflow-wrap:anywhere;white-space:normal;max-width:32rem}
        td:nth-child(-n+2),td:nth-child(4){text-align:right}.failed td:nth-child(3){color:var(--bad);font-weight:600}
        .bar{width:45%;min-width:12rem}.bar div{position:relative;height:1rem;overflow:hidden}
        .bar i{position:absolute;top:0;bottom:0;min-width:1px}.queue{background:var(--queue)}
        .lookUp{background:var(--lookUp)}.connect{background:var(--connect)}.tls{background:var(--tls)}
        .wait{background:var(--wait)}.receive{background:var(--receive)}.unknown{background:var(--unknown)}
        @media print{body{max-width:none;padding:0}tr{break-inside:avoid}
        .bar i,.key{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
        """
}
