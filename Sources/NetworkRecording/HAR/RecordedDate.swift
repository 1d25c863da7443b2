import FoundationEssentials
import NetworkCore

/// Dates as HAR writes them: ISO 8601 with a time zone.
enum RecordedDate {
    /// Returns a date in UTC with milliseconds, such as `2026-11-22T08:05:09.120Z`. Dates outside the years 1 to 9999
    /// become the first or the last of them.
    static func text(of date: Date) -> String {
        let given = date.timeIntervalSince1970
        let seconds = given.isNaN ? 0 : min(max(given, -62_135_596_800), 253_402_300_799)
        return CivilDate.text(milliseconds: Int((seconds * 1000).rounded()))
    }

    /// Returns the date of a text: `2026-11-22T09:05:09.120+01:00`. Any number of digits may follow the point.
    static func date(of text: String) -> Date? {
        var rest = text.utf8[...]
        guard let year = number(&rest, digits: 4), take("-", &rest), let month = number(&rest, digits: 2),
            take("-", &rest), let day = number(&rest, digits: 2), take("T", &rest),
            let hour = number(&rest, digits: 2), take(":", &rest), let minute = number(&rest, digits: 2)
        else { return nil }
        var second = 0
        if take(":", &rest) {
            guard let given = number(&rest, digits: 2) else { return nil }
            second = given
        }
        let civil = CivilDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard let fraction = fraction(&rest), let zone = zone(&rest), rest.isEmpty,
            let date = civil.moment(inYears: 1...9999)
        else {
            return nil
        }
        return date.addingTimeInterval(fraction - Double(zone))
    }

    private static func take(_ mark: Unicode.Scalar, _ rest: inout Substring.UTF8View) -> Bool {
        guard rest.first.map({ UInt32($0) == mark.value }) ?? false else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func number(_ rest: inout Substring.UTF8View, digits count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Reads the part of a second.
    private static func fraction(_ rest: inout Substring.UTF8View) -> Double? {
        guard take(".", &rest) || take(",", &rest) else { return 0 }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        return Double("0." + String(Substring(digits.prefix(9))))
    }

    /// Reads a time zone.
    /// - Returns: The seconds that it is ahead of UTC.
    private static func zone(_ rest: inout Substring.UTF8View) -> Int? {
        if take("Z", &rest) { return 0 }
        let isAhead = take("+", &rest)
        guard isAhead || take("-", &rest), let hours = number(&rest, digits: 2) else { return nil }
        _ = take(":", &rest)
        let minutes = rest.isEmpty ? 0 : number(&rest, digits: 2)
        guard let minutes else { return nil }
        return (hours * 3600 + minutes * 60) * (isAhead ? 1 : -1)
    }
}
