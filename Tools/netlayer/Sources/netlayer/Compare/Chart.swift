import Foundation

enum Chart {
    /// What an arm has in a chart.
    struct Series {
        var name: String
        /// The number of the arm's color.
        var color: Int
        /// In milliseconds, in ascending order.
        var latencies: [Double]
        /// A value of each block; not a number where there is none.
        var blocks: [Double]
    }

    /// A chart: what is drawn, what it says in words, and its height.
    struct Drawing {
        var svg: String
        var words: String
        var height = Chart.height
    }

    /// A bar, of one part or of several next to one another.
    struct Bar {
        var name: String
        var color: Int
        var parts: [(name: String, value: Double)]
    }

    static let (width, height) = (480.0, 240.0)
    private static let (left, right, top, bottom) = (52.0, 10.0, 10.0, 28.0)

    // MARK: Kinds of charts

    /// Returns the share of requests that are done after a time, on a logarithmic scale.
    static func cumulative(_ series: [Series]) -> Drawing {
        guard let scale = LogScale(series) else { return nothing }
        var svg = axes(scale) + levels([0, 0.25, 0.5, 0.75, 1]) { "\(Int($0 * 100)) %" }
        for one in series where !one.latencies.isEmpty {
            let count = one.latencies.count
            let points = (0...200).map { step in
                let rank = min(count - 1, count * step / 200)
                return (x(scale.place(one.latencies[rank])), y(Double(rank + 1) / Double(count)))
            }
            svg += line(points, one.color)
        }
        return Drawing(svg: svg, words: words(series))
    }

    /// Returns how many requests took a time, on a logarithmic scale.
    static func histogram(_ series: [Series]) -> Drawing {
        guard let scale = LogScale(series) else { return nothing }
        let bins = 60
        let heights = series.map { one in
            one.latencies.reduce(into: [Double](repeating: 0, count: bins)) { counts, latency in
                counts[min(bins - 1, Int(scale.place(latency) * Double(bins)))] += 1 / Double(one.latencies.count)
            }
        }
        let highest = heights.flatMap(\.self).max() ?? 0
        guard highest > 0 else { return nothing }
        var svg = axes(scale)
        for (one, counts) in zip(series, heights) where !one.latencies.isEmpty {
            let points = counts.enumerated().flatMap { bin, count in
                [Double(bin), Double(bin + 1)].map { (x($0 / Double(bins)), y(count / highest)) }
            }
            svg += line([(x(0), y(0))] + points + [(x(1), y(0))], one.color)
        }
        return Drawing(svg: svg, words: words(series))
    }

    /// Returns the medians of the blocks in their order.
    static func course(_ series: [Series]) -> Drawing {
        course(series, step: "block", words: words(series), level: time)
    }

    /// Returns the values of the blocks of each series in their order.
    static func course(_ series: [Series], step: String, words: String, level: (Double) -> String) -> Drawing {
        let all = series.flatMap(\.blocks).filter(\.isFinite)
        guard let highest = all.max(), highest > 0 else { return nothing }
        var svg = levels(roundTicks(to: highest).map { $0 / highest }) { level($0 * highest) }
        for one in series {
            let count = Double(max(2, one.blocks.count) - 1)
            let points = one.blocks.enumerated().filter(\.element.isFinite).map {
                (x(Double($0.offset) / count), y($0.element / highest))
            }
            svg += line(points, one.color)
            svg += points.map {
                #"<circle cx="\#(number($0.0))" cy="\#(number($0.1))" r="2" fill="var(--c\#(one.color))"/>"#
            }.joined()
        }
        svg += label("\(step) 1", x(0), height - 8, "start") + label("last \(step)", x(1), height - 8, "end")
        return Drawing(svg: svg, words: words)
    }

    /// Returns three to six round values from 0 to a largest one.
    static func roundTicks(to highest: Double) -> [Double] {
        let power = pow(10, log10(highest).rounded(.down))
        let step = [0.2, 0.5, 1, 2].map { $0 * power }.first { highest / $0 < 6 } ?? power * 2
        return (0...Int(highest / step)).map { Double($0) * step }
    }

    /// Returns bars from left to right, one below another.
    static func bars(_ bars: [Bar], unit: String) -> Drawing {
        let sums = bars.map { $0.parts.reduce(0) { $0 + max(0, $1.value) } }
        guard let longest = sums.max(), longest > 0 else { return nothing }
        let step = 46.0
        var (svg, words) = ("", [String]())
        for (index, bar) in bars.enumerated() {
            let place = top + Double(index) * step
            var (start, texts) = (4.0, [String]())
            for (rank, part) in bar.parts.enumerated() where part.value > 0 {
                let length = part.value / longest * (width - 90)
                let strength = 1 - 0.72 * Double(rank) / Double(max(1, bar.parts.count - 1))
                let text = "\(part.name) \(number(part.value)) \(unit)"
                if !part.name.isEmpty, number(part.value) != "0" { texts.append(text) }
                svg += """
                    <rect x="\(number(start))" y="\(number(place + 16))" width="\(number(length))" height="20" \
                    fill="var(--c\(bar.color))" fill-opacity="\(number(strength))">\
                    <title>\(HTML.escaped("\(bar.name) \(text)"))</title></rect>
                    """
                start += length
            }
            let (sum, parts) = ("\(number(sums[index])) \(unit)", texts.joined(separator: ", "))
            svg += label(bar.name + (parts.isEmpty ? "" : ": \(parts)"), 4, place + 11, "start")
            svg += label(sum, start + 6, place + 30, "start")
            words.append("\(bar.name): \(sum)\(parts.isEmpty ? "" : " (\(parts))")")
        }
        return Drawing(
            svg: svg, words: words.joined(separator: "; "), height: top * 2 + step * Double(bars.count))
    }

    /// Returns the interval of a ratio's inverse around 'equal'.
    static func interval(_ interval: RatioInterval, _ reach: Double) -> String {
        func x(_ ratio: Double) -> String { number(60 + 57 * max(-1, min(1, log(max(1 / ratio, 1e-9)) / reach))) }
        return """
            <svg viewBox="0 0 120 14" class="interval" aria-hidden="true"><path class="axis" d="M60 0V14"/>\
            <path class="bar" d="M\(x(interval.high)) 7H\(x(interval.low))"/>\
            <circle cx="\(x(interval.ratio))" cy="7" r="3.5"/></svg>
            """
    }

    // MARK: Parts

    private static let nothing = Drawing(
        svg: label("nothing was measured", width / 2, 30, "middle"), words: "nothing was measured", height: 50)

    private static func words(_ series: [Series]) -> String {
        series.map { one in
            guard !one.latencies.isEmpty else { return "\(one.name): no responses" }
            let times = [50, 99].map { number(one.latencies[max(1, (one.latencies.count * $0 + 99) / 100) - 1]) }
            return "\(one.name): half within \(times[0]) ms, 99 % within \(times[1]) ms"
        }.joined(separator: "; ")
    }

    /// A logarithmic scale that contains all latencies; `nil` without any.
    private struct LogScale {
        let (low, high): (Double, Double)

        init?(_ series: [Series]) {
            let values = series.flatMap { [$0.latencies.first, $0.latencies.last] }.compactMap(\.self).filter { $0 > 0 }
            guard let smallest = values.min(), let largest = values.max() else { return nil }
            low = log10(smallest) - 0.05
            high = max(log10(largest) + 0.05, low + 0.3)
        }

        /// Returns the place of a value, from 0 to 1.
        func place(_ value: Double) -> Double { min(1, max(0, (log10(max(value, 1e-9)) - low) / (high - low))) }

        /// The round values within the scale.
        var ticks: [Double] {
            let powers = Int(low.rounded(.down))...Int(high.rounded(.up))
            let all = powers.flatMap { power in [1.0, 2, 5].map { $0 * pow(10, Double(power)) } }
            let inside = all.filter { log10($0) > low && log10($0) < high }
            return inside.count > 8 ? inside.filter { log10($0).rounded() == log10($0) } : inside
        }
    }

    private static func axes(_ scale: LogScale) -> String {
        scale.ticks.reduce(rule(from: (x(0), y(0)), to: (x(1), y(0)))) { svg, tick in
            let place = x(scale.place(tick))
            return svg + rule(from: (place, y(0)), to: (place, y(1))) + label(time(tick), place, height - 10, "middle")
        }
    }

    /// Returns a time in milliseconds in its most readable unit.
    private static func time(_ value: Double) -> String {
        value < 1 ? "\(number(value * 1000)) µs" : value < 1000 ? "\(number(value)) ms" : "\(number(value / 1000)) s"
    }

    private static func levels(_ shares: [Double], _ name: (Double) -> String) -> String {
        shares.map { share in
            rule(from: (x(0), y(share)), to: (x(1), y(share))) + label(name(share), left - 5, y(share) + 4, "end")
        }.joined()
    }

    private static func rule(from start: (Double, Double), to end: (Double, Double)) -> String {
        let (x1, y1, x2, y2) = (number(start.0), number(start.1), number(end.0), number(end.1))
        return #"<line class="axis" x1="\#(x1)" y1="\#(y1)" x2="\#(x2)" y2="\#(y2)"/>"#
    }

    private static func line(_ points: [(Double, Double)], _ color: Int) -> String {
        let text = points.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " ")
        return #"<polyline class="plot" stroke="var(--c\#(color))" points="\#(text)"/>"#
    }

    private static func label(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
        #"<text x="\#(number(x))" y="\#(number(y))" text-anchor="\#(anchor)">\#(HTML.escaped(text))</text>"#
    }

    private static func x(_ share: Double) -> Double { left + share * (width - left - right) }
    private static func y(_ share: Double) -> Double { height - bottom - share * (height - top - bottom) }

    /// Returns a number with at most three digits that count, without zeros at its end.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : abs(value) >= 1 ? 2 : 3
        var text = String(format: "%.\(digits)f", value)
        if digits > 0 {
            while text.hasSuffix("0") { text.removeLast() }
            if text.hasSuffix(".") { text.removeLast() }
        }
        return text
    }
}
