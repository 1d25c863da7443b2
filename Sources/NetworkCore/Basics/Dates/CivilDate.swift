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
}

/// A parser for dates in header fields, as lenient as RFC 6265 §5.1.1 requires for cookies: tokens in any order,
/// between any of many delimiters. The three forms of RFC 9110 §5.6.7 are among what it reads.
enum FieldDate {
    /// Returns the point in time that a text stands for, or `nil` if its day, month, year or time is missing or out of
    /// range.
    static func parse(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: \.isDateDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year, time.second <= 59 else { return nil }
        switch year {
        case 70...99: year += 1900
        case 0...69: year += 2000
        default: break
        }
        return CivilDate(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second
        ).moment
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        return names.firstIndex(of: name).map { $0 + 1 }
    }

    /// Reads `hour:minute:second`, each of one or two digits. Anything may follow, except another digit.
    private static func clock(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = whole(parts[0]), let minute = whole(parts[1]),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func whole(_ token: Substring.UTF8View) -> Int? {
        token.count <= 2 ? number(token, digits: 1...2).flatMap { token.allSatisfy(\.isDigit) ? $0 : nil } : nil
    }

    /// Reads the number at the start of a token: as many digits as given, then the end or a character that is not a
    /// digit.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let leading = token.prefix(while: \.isDigit)
        guard digits.contains(leading.count) else { return nil }
        return leading.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

extension UInt8 {
    fileprivate var isDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
