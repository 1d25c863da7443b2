import FoundationEssentials

/// A parser for the three forms of a date in a header field (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Returns the point in time that a text stands for, or `nil` if the text has none of the three forms.
    /// - Parameter now: The reference for two-digit years. Such a year is the latest one that is at most 50 years after
    ///   it.
    static func parse(_ text: String, now: Date) -> Date? {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            return date(day: words[1], month: words[2], year: number(words[3], digits: 4), time: words[4])
        // Sunday, 06-Nov-94 08:49:37 GMT
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, let short = number(parts[2], digits: 2) else { return nil }
            return nearest(short, to: now) { date(day: parts[0], month: parts[1], year: $0, time: words[2]) }
        // Sun Nov  6 08:49:37 1994
        case 5:
            return date(day: words[2], month: words[1], year: number(words[4], digits: 4), time: words[3])
        default: return nil
        }
    }

    private static func date(day: Substring, month: Substring, year: Int?, time: Substring) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
        guard let year, month.utf8.count == 3, let month = CivilDate.month(month),
            let day = number(day, digits: 2) ?? number(day, digits: 1),
            clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2]
        else { return nil }
        return CivilDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second).moment
    }

    private static func nearest(_ short: Int, to now: Date, _ date: (Int) -> Date?) -> Date? {
        let limit = now.addingTimeInterval(50 * 365.25 * 86_400)
        let candidates = [2100, 2000, 1900].compactMap { date($0 + short) }
        return candidates.first { $0 <= limit }
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        text.utf8.count == digits ? Int(asciiDigits: text.utf8) : nil
    }
}
