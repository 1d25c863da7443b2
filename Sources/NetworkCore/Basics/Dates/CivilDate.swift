package import FoundationEssentials

/// A date and time in UTC, as header fields write it. Header fields need no calendar, so neither does this type.
package struct CivilDate: Equatable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// The point in time, or `nil` if the fields form no valid date, such as 30 February.
    package var moment: Date? { moment(inYears: 1601...9999) }

    /// The point in time, or `nil` if the fields form no valid date within some years, from 1 on.
    package func moment(inYears years: ClosedRange<Int>) -> Date? {
        guard years.contains(year), (1...12).contains(month),
            (1...Self.days(of: month, in: year)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let seconds = daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// The number of days since 1970 in the proleptic Gregorian calendar. Years are counted from March, so that the
    /// leap day comes last.
    private var daysSince1970: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Creates the date and time that is the given number of seconds after 1970, in the proleptic Gregorian calendar,
    /// as ISO 8601 requires.
    init(seconds: Int) {
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let time = seconds - days * 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    }

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Returns a point in time in UTC as ISO 8601 writes it, with milliseconds only if they are not zero:
    /// `2026-11-22T08:05:09.120Z`.
    package static func text(milliseconds: Int) -> String {
        let seconds = Int((Double(milliseconds) / 1000).rounded(.down))
        let (date, rest) = (CivilDate(seconds: seconds), milliseconds - seconds * 1000)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let day = "\(digits(date.year, 4))-\(digits(date.month, 2))-\(digits(date.day, 2))"
        let time = "\(digits(date.hour, 2)):\(digits(date.minute, 2)):\(digits(date.second, 2))"
        return "\(day)T\(time)\(rest == 0 ? "" : ".\(digits(rest, 3))")Z"
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Returns the number of a month from the first three letters of its English name, in any case.
    static func month(_ name: some StringProtocol) -> Int? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        return names.firstIndex(of: name.prefix(3).lowercased()).map { $0 + 1 }
    }
}

/// A parser for the three forms of a date in a header field (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Returns the point in time that a text stands for, or `nil` if the text has none of the three forms.
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
