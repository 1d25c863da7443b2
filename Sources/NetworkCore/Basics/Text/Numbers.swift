extension Duration {
    /// The duration in whole milliseconds, rounded up so that a positive duration never becomes 0, and capped at
    /// `Int.max / 2`.
    package var roundedUpMilliseconds: Int {
        // Beyond that, `components` can't hold the seconds.
        guard self < .seconds(Int64.max), self > .seconds(Int64.min) else {
            return self < .zero ? Int.min / 2 : Int.max / 2
        }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow, scaled < Int64.max / 2, scaled > Int64.min / 2 else {
            return seconds < 0 ? Int.min / 2 : Int.max / 2
        }
        return Int(scaled) + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// The duration in seconds as a floating-point number, for reports.
    package var inSeconds: Double { self / .seconds(1) }

    /// The duration with a fitting unit: `340 µs`, `12.3 ms`, `4.56 s`.
    package var shortText: String {
        let seconds = inSeconds
        switch abs(seconds) {
        case ..<0.001: return "\(Int((seconds * 1_000_000).rounded())) µs"
        case ..<1: return "\((seconds * 10_000).rounded() / 10) ms"
        default: return "\((seconds * 100).rounded() / 100) s"
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes as hexadecimal digits, two for each, in lower case.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension Int {
    /// Returns the sum, or the limit that it would go beyond.
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other > 0 ? .max : .min) : sum
    }
}
