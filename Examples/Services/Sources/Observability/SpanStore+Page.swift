import Foundation

extension SpanStore {
    /// Returns kept traces as a page of HTML without scripts, in UTF-8: those with errors, the slowest and the newest.
    /// Each is a waterfall: a bar for each span, with its events as ticks.
    /// - Parameter limit: The number of traces in each of the three lists.
    public func page(limit: Int = 20) -> String {
        let newest = Array(traces.reversed())
        let slowest = newest.sorted { $0.milliseconds > $1.milliseconds }
        var shown: Set<String> = []
        let lists = [("Failed", newest.filter(\.isError)), ("Slowest", slowest), ("Newest", newest)].map {
            title, list in
            let rest = list.filter { !shown.contains($0.traceID) }.prefix(max(0, limit))
            shown.formUnion(rest.map(\.traceID))
            return "<h2>\(title)</h2>\n" + rest.map(html).joined()
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>Traces</title>
            <style>\(style)</style>
            </head>
            <body>
            <h1>Traces</h1>
            <p>\(newest.count) traces are kept, failed and slow ones for longer than others. Times in UTC.</p>
            \(lists.joined())
            </body>
            </html>
            """
    }

    private func html(_ trace: Trace) -> String {
        let rows = Waterfall(trace.spans).rows
        guard let start = rows.map(\.span.startUnixNano).min(), let end = rows.map(\.span.end).max() else { return "" }
        let total = max(Double(end - start) / 1e6, 0.001)
        let time = Date(timeIntervalSince1970: Double(start) / 1e9)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        var text = """
            <details\(trace.isError ? " class=\"error\" open" : "")>
            <summary><b>\(rows[0].span.name.escaped)</b> \(total.text) ms <small>\(time) · \
            \(trace.traceID)</small></summary>

            """
        for row in rows {
            let offset = Double(row.span.startUnixNano - start) / 1e6
            text += html(row.span, depth: row.depth, at: offset, of: total)
        }
        if trace.dropped > 0 { text += "<p>\(trace.dropped) spans more were not kept.</p>\n" }
        return text + "</details>\n"
    }

    private func html(_ span: SpanRecord, depth: Int, at offset: Double, of total: Double) -> String {
        func percent(_ part: Double) -> String { "\((min(max(part / total, 0), 1) * 10_000).rounded() / 100)%" }
        let ticks = span.events.map { event in
            "<i style=\"left:\(percent(offset + event.milliseconds))\" "
                + "title=\"\(event.name.escaped) \(event.milliseconds.text) ms\"></i>"
        }
        let phases = span.events.map { "\($0.name) \($0.milliseconds.text)" }
        let notes =
            (span.isError ? ["✗ \(span.message ?? span.attributes["error.type"] ?? "error")"] : [])
            + (span.isCancelled ? ["given up by the program"] : [])
            + (phases.isEmpty ? [] : [phases.joined(separator: " · ") + " ms"])
        let facts =
            span.attributes.map { ($0, $1) }
            + span.events.flatMap { event in event.attributes.map { ("\(event.name): \($0)", $1) } }
            + span.links.map { ("link", "\($0.traceID) \($0.spanID)") }
            + [("span.id", span.spanID), ("span.kind", span.kind)]
        let table = facts.sorted { $0 < $1 }.map { "<tr><th>\($0.escaped)</th><td>\($1.escaped)</td></tr>" }
        // Routes of several servers may have one name.
        let server = span.kind == "server" ? nil : span.attributes["server.address"].map { " → \($0)" }
        return """
            <details class="span\(span.isError ? " error" : "")">
            <summary><span style="padding-left:\(min(depth, 12))em">\((span.name + (server ?? "")).escaped)</span>\
            <span>\(span.milliseconds.text) ms</span>\
            <span class="line"><u style="left:\(percent(offset));width:\(percent(span.milliseconds))"></u>\
            \(ticks.joined())</span>\
            <small>\(notes.joined(separator: " — ").escaped)</small></summary>
            <table>\(table.joined())</table>
            </details>

            """
    }

    private var style: String {
        """
        :root { color-scheme: light dark; --bar: #3b82c4; --bad: #d9504b; --line: #8884; }
        body { font: 14px/1.5 system-ui, sans-serif; margin: 1.5em; }
        body > details { border: 1px solid var(--line); border-radius: 6px; margin: .6em 0; padding: .4em .8em; }
        body > .error { border-left: 4px solid var(--bad); }
        .span summary { display: grid; grid-template-columns: 26em 6em 1fr; column-gap: 1em; list-style: none; }
        .span summary > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .span summary > :nth-child(2) { text-align: right; font-variant-numeric: tabular-nums; }
        .span .line { position: relative; background: var(--line); height: 1em; margin: .25em 0; }
        .line u { position: absolute; height: 100%; min-width: 2px; background: var(--bar); }
        .span.error .line u { background: var(--bad); }
        .line i { position: absolute; height: 100%; border-left: 2px solid CanvasText; }
        small { opacity: .75; }
        .span small { grid-column: 3; white-space: normal; }
        .span.error small { color: var(--bad); opacity: 1; }
        th { text-align: left; font-weight: 500; padding-right: 1em; vertical-align: top; }
        td { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
        """
    }
}

/// The spans of a trace, each below the one that it is part of, in the order of their starts.
struct Waterfall {
    private(set) var rows: [(span: SpanRecord, depth: Int)] = []
    private var children: [String: [SpanRecord]]

    init(_ spans: [SpanRecord]) {
        let known = Set(spans.map(\.spanID))
        let ordered = spans.sorted { $0.startUnixNano < $1.startUnixNano }
        // The parent of a first one is another program's, has not ended, or was not kept.
        children = Dictionary(grouping: ordered) { span in span.parentID.flatMap { known.contains($0) ? $0 : nil } ?? ""
        }
        add(below: "", depth: 0)
    }

    private mutating func add(below parent: String, depth: Int) {
        for span in children.removeValue(forKey: parent) ?? [] {
            rows.append((span, depth))
            add(below: span.spanID, depth: depth + 1)
        }
    }
}

extension String {
    /// The text as text of HTML, or in an attribute's double quotes.
    fileprivate var escaped: String {
        var text = ""
        // Not by characters: `<` with a combining mark is another one.
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Double {
    /// With one digit after the point, two below 10.
    fileprivate var text: String {
        let scale: Double = self < 10 ? 100 : 10
        return "\((self * scale).rounded() / scale)"
    }
}
